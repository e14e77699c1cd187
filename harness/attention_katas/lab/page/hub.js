// Between the panels and whoever computes: one question in flight for each panel, the newest next.
//
// `model` has the methods of anywidget's: on("msg:custom", act) and send(message).

export class Hub {
  constructor(model) {
    this.model = model;
    this.listeners = {};
    this.verdicts = {};
    this.katas = [];
    this.scene = null;
    this.panels = null; // none named: all of ours
    this.generation = 0;
    this.waiting = new Map();
    this.count = 0;
    this.live = true;
    this.open = true;
    model.on("msg:custom", (message) => this.hear(message));
  }

  on(event, act) {
    (this.listeners[event] ||= []).push(act);
  }

  emit(event, ...what) {
    for (const act of this.listeners[event] || []) act(...what);
  }

  hear(message) {
    const { event } = message;
    if (event === "answer") {
      const answered = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      answered?.(message);
    } else if (event === "hello") {
      Object.assign(this, { scene: message.scene, panels: message.panels, katas: message.katas, generation: message.generation });
      this.live = !message.frozen;
      for (const verdict of message.verdicts) this.verdicts[verdict.kata] = verdict;
      this.emit("hello");
    } else if (event === "saved") {
      Object.assign(this, { generation: message.generation, katas: message.katas });
      this.emit("saved", message.files);
    } else if (event === "verdict") {
      this.verdicts[message.kata] = message;
      this.emit("verdict", message);
    } else if (event === "line") {
      this.open = message.open;
      if (!message.open) this.waiting.clear();
      this.emit("line", message.open);
    }
  }

  call(panel, ask, answered) {
    const id = ++this.count;
    this.waiting.set(id, answered);
    this.model.send({ panel, id, ask });
  }

  once(panel, ask) {
    return new Promise((answered) => this.call(panel, ask, answered));
  }

  // A function that asks; `show(answer)` is called with answers, never more than one behind.
  // answer.ask is what was asked, as it was then.
  asker(panel, show) {
    let busy = false;
    let next = null;
    let last = null;
    const go = () => {
      if (busy || !next) return;
      const ask = next;
      [next, busy] = [null, true];
      const generation = this.generation;
      this.call(panel, ask, (answer) => {
        busy = false;
        if (answer.unclear) this.emit("unclear", answer.unclear, panel);
        else show(Object.assign(answer, { ask }));
        document.dispatchEvent(new CustomEvent("lab:shown", { detail: { panel, ask, answer, generation } }));
        go();
      });
    };
    const again = () => ((next = next || last), go());
    this.on("saved", again);
    this.on("line", (open) => open && ((busy = false), again()));
    return (ask) => ((last = next = structuredClone(ask)), go());
  }

  kata(name) {
    return this.katas.find((kata) => kata.name === name);
  }
}

// The token comes in the address and leaves it at once, for an address is seen and remembered. A
// reload finds it in this tab's storage (reload.js); without storage it stays where it is.
function takeToken() {
  const token = new URLSearchParams(location.search).get("token") || "";
  try {
    sessionStorage.setItem("kata-lab-token", token);
    history.replaceState(history.state, "", location.pathname + location.hash);
  } catch {
    // The page works all the same.
  }
  return encodeURIComponent(token);
}

// The line to `kata lab`: opened again when it was lost, as after a restart on the same port.
export function socketModel() {
  const token = takeToken();
  const acts = [];
  const tell = (message) => acts.forEach((act) => act(message));
  let socket;
  let waiting = [];
  const open = () => {
    socket = new WebSocket(`ws://${location.host}/line?token=${token}`);
    socket.onopen = () => {
      waiting.forEach((text) => socket.send(text));
      waiting = [];
      tell({ event: "line", open: true });
    };
    socket.onmessage = (event) => tell(JSON.parse(event.data));
    socket.onclose = () => {
      tell({ event: "line", open: false });
      setTimeout(open, 1000);
    };
  };
  return {
    open,
    on: (_, act) => acts.push(act),
    send(message) {
      const text = JSON.stringify(message);
      if (socket?.readyState === WebSocket.OPEN) socket.send(text);
    },
  };
}
