// Starts the page: with `kata lab`, or exported as one file.

import { page } from "./page.js";
import { socketModel } from "./hub.js";

const frozen = document.getElementById("frozen");
if (frozen) {
  const { frozenModel } = await import("./reference.js");
  const model = frozenModel(JSON.parse(frozen.textContent));
  page(model, document.body);
  model.open();
} else {
  const model = socketModel();
  page(model, document.body);
  model.open();
}
