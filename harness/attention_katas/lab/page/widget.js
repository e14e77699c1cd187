// The page as a widget of a notebook (anywidget): in a shadow root, so that no styles leak in or out.

import { h } from "./dom.js";
import { page } from "./page.js";

const dark = () => document.body.dataset.jpThemeLight === "false" || document.documentElement.classList.contains("dark") || document.body.classList.contains("dark");

export default {
  render({ model, el }) {
    const host = h("div.attention-lab");
    const shadow = host.attachShadow({ mode: "open" });
    const root = h("div.widget",
      h("header.top", h("nav", { "aria-label": "Pictures" }), h("div.status")),
      h("main", h("div.intro", h("p.standfirst"), h("div.legend"))),
      h("footer.foot"), h("div.live", { role: "status", "aria-live": "polite" }));
    shadow.append(h("style", model.get("style")), root);
    host.dataset.theme = dark() ? "dark" : "light";
    el.append(host);
    page(model, root, host);
    model.send({ panel: "open" });
  },
};
