// Which workflow files the original accepts: reads paths from a JSON file, writes errors by path.
import { readFileSync, writeFileSync } from "node:fs";
import { cmdWorkflowValidate } from "./original/packages/cli/src/commands/workflow.js";

class Refused extends Error {}
const found: Record<string, string[]> = {};
let said = "";
process.stderr.write = ((text: string) => { said += text; return true; }) as never;
process.exit = (() => { throw new Refused(said.trim()); }) as never;
for (const file of JSON.parse(readFileSync(process.argv[2], "utf8")) as string[]) {
  said = "";
  try { found[file] = await cmdWorkflowValidate(file); } catch (error) { found[file] = [String((error as Error).message)]; }
}
writeFileSync(process.argv[3], JSON.stringify(found));
