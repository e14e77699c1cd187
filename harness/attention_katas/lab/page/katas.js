// The learner's files: the written functions, the verdict, and the next command.

import { h, fill } from "./dom.js";

export const sign = (verdict) => (!verdict ? ["·", "not judged yet"] : verdict.judging ? ["…", "being judged"] : verdict.outcome === "passed" ? ["✓", "passed"] : verdict.outcome === "not started" ? ["○", "not started"] : ["✗", verdict.outcome]);

export default {
  render({ model: hub, el }) {
    el.id = "katas";
    el.setAttribute("class", "panel katas");
    el.setAttribute("aria-label", "your files");
    const list = h("ul.files");
    fill(el, h("div.head", h("span.number", { "aria-hidden": "true" }, "✎"), h("h2", "Your files"), h("p.lede", "These files compute everything above. When you save one, every picture that uses it is drawn again and the file is judged.")), list);
    const draw = () => fill(list, hub.katas.map((kata) => {
      const verdict = hub.verdicts[kata.name];
      const [mark, words] = sign(verdict);
      const diagnoses = verdict?.diagnoses || [];
      return h("li", { id: `kata-${kata.name}`, tabindex: -1, class: `file ${verdict?.judging ? "judging" : (verdict?.outcome || "").replace(" ", "-")}` },
        h("h3", h("span.mark", { title: words }, mark), kata.title, h("code", kata.path)),
        h("p", kata.functions.map((name) => [h("code", { class: kata.unwritten.includes(name) ? "unwritten" : "", title: kata.unwritten.includes(name) ? "not written yet" : null }, name), " "])),
        verdict && !verdict.judging ? h("p.fine", words, verdict.total ? `, ${verdict.passed} of ${verdict.total} checks` : "", verdict.raised ? `: ${verdict.raised}` : "", verdict.where ? ` (${verdict.where})` : "") : h("p.fine", words),
        diagnoses.map((one) => h("p.says", h("code", one.function), one.symptoms.length ? ": " : " ", one.says, one.symptoms.length ? ` ${one.symptoms.join("; ")}` : "")),
        h("p.fine", h("code.command", diagnoses[0]?.hint || (verdict?.outcome === "passed" ? `kata solution ${kata.name}` : kata.unwritten.length ? `kata show ${kata.name}` : `kata run ${kata.name}`))));
    }));
    hub.on("verdict", draw);
    hub.on("saved", draw);
    draw();
  },
};
