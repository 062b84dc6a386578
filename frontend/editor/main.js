// The editor's page: the desk one writes at, and what lies around it.

import { createDesk } from "./desk.js";

const data = JSON.parse(document.getElementById("editor-data").textContent);
createDesk({ mount: document.getElementById("desk"), draft: data.draft });
