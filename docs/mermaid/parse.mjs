// Reads {"name": "mermaid text", ...} on stdin, writes {"name": null | "what is wrong", ...}.
// Mermaid's parser cleans labels with DOMPurify, which needs a document: jsdom is one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Modules are found from the folder given, not from this file's.
const folder = createRequire(`${process.argv[2]}/package.json`);
const load = (name) => import(pathToFileURL(folder.resolve(name)).href);

const { JSDOM } = await load("jsdom");
const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await load("mermaid");

const verdicts = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  try {
    await mermaid.parse(text);
    verdicts[name] = null;
  } catch (error) {
    verdicts[name] = error.message;
  }
}
process.stdout.write(JSON.stringify(verdicts));
