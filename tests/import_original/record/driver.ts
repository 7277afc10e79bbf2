import { createServer } from "node:http";
import { mkdirSync, writeFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cmdWorkflowAdd } from "./original/packages/cli/src/commands/workflow.js";
import { cmdThreadStart, cmdThreadExec, cmdThreadResume, cmdThreadPoke, cmdThreadCancel, cmdThreadShow, cmdThreadList } from "./original/packages/cli/src/commands/thread.js";
import { cmdStepFork, cmdStepList } from "./original/packages/cli/src/commands/step.js";
const home = process.argv[2], work = process.argv[3], scenario = JSON.parse(readFileSync(process.argv[4], "utf8"));
const root = join(home, ".uwf"); process.env.UWF_HOME = root; process.env.OCAS_HOME = join(home, ".ocas");
mkdirSync(root, { recursive: true });
let queue: string[][] = []; let sessions = 0; const prompts: unknown[] = [];
const server = createServer((req, res) => {
  let body = ""; req.on("data", (c) => { body += c; }); req.on("end", () => {
    if (req.url!.endsWith("/sessions")) { sessions++; prompts.push({cwd: JSON.parse(body||"{}").workspaceRoot ?? null}); res.writeHead(201, { "content-type": "application/json" }); res.end(JSON.stringify({ type: "@sumeru/session", value: { id: "ses-" + sessions } })); return; }
    prompts.push({session: req.url!.split("/").at(-2), content: JSON.parse(body).content});
    const turns = queue.shift() ?? ["nothing"];
    res.writeHead(200, { "content-type": "text/event-stream" });
    turns.forEach((content, index) => res.write(`id: ${index}\nevent: turn\ndata: ${JSON.stringify({ type: "@sumeru/turn", value: { index, role: "assistant", content, timestamp: "2026-06-26T00:00:00Z" } })}\n\n`));
    res.write(`id: 99\nevent: done\ndata: ${JSON.stringify({ type: "@sumeru/summary", value: { turnCount: turns.length, durationMs: 12, tokens: { in: 100, out: 20 } } })}\n\n`); res.end();
  });
});
await new Promise<void>((r) => server.listen(0, "127.0.0.1", () => r()));
const port = (server.address() as { port: number }).port;
writeFileSync(join(root, "config.yaml"), `agents:\n  mock:\n    host: http://127.0.0.1:${port}\n    gateway: mock\ndefaultAgent: mock\n`);
const out: Record<string, unknown>[] = []; const threads: Record<string, string> = {};
const pause = () => new Promise((r) => setTimeout(r, 5));
for (const op of scenario) {
  await pause(); let result: unknown; queue = (op.replies ?? []).map((r: unknown) => (Array.isArray(r) ? r : [r]));
  try {
    if (op.op === "add") result = await cmdWorkflowAdd(root, join(dirname(process.argv[4]), op.file));
    else if (op.op === "start") { const r = await cmdThreadStart(root, op.workflow, op.prompt, work, op.cwd ?? "/srv/shop"); threads[op.as] = r.thread; result = r; }
    else if (op.op === "exec") result = await cmdThreadExec(root, threads[op.thread] as never, null, op.count ?? 1, false, false);
    else if (op.op === "resume") result = await cmdThreadResume(root, threads[op.thread] as never, op.prompt ?? null, null);
    else if (op.op === "poke") result = await cmdThreadPoke(root, threads[op.thread] as never, op.prompt, null);
    else if (op.op === "cancel") result = await cmdThreadCancel(root, threads[op.thread] as never);
    else if (op.op === "fork") { const list = await cmdStepList(root, threads[op.thread] as never) as never as { steps: { hash: string }[] }; const r = await cmdStepFork(root, list.steps[op.step].hash as never); threads[op.as] = r.thread; result = r; }
    else if (op.op === "show") result = await cmdThreadShow(root, threads[op.thread] as never);
    else if (op.op === "steps") result = await cmdStepList(root, threads[op.thread] as never);
  } catch (e) { result = { error: String((e as Error).stack) }; }
  out.push({ ...op, result });
}
server.close(); server.closeAllConnections();
writeFileSync(process.argv[5], JSON.stringify({ threads, out, prompts }, null, 1));
