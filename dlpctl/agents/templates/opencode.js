// Written by 'dlpctl hook install opencode'; 'dlpctl hook uninstall opencode' removes it.
import { spawnSync } from "node:child_process"

const COMMAND = @COMMAND@

function ask(event, session, cwd, content, tool) {
  const payload = { dlpctl_agent: "opencode", event, session, cwd, content, tool: tool ?? "" }
  const ran = spawnSync(COMMAND[0], COMMAND.slice(1), {
    input: JSON.stringify(payload), cwd, timeout: 30000, maxBuffer: 1 << 28, encoding: "utf8",
  })
  if (ran.error || ran.status !== 0) {
    throw new Error((ran.stderr || "").trim() || "dlpctl: refused: the hook cannot be run")
  }
  if (!ran.stdout) return { action: "pass" } // not inspected, as agents.on_failure allows
  const answer = JSON.parse(ran.stdout)
  if (answer.action === "refuse") throw new Error(answer.reason)
  return answer
}

export const Dlpctl = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    for (const part of output.parts) {
      if (part.type !== "text" || typeof part.text !== "string") continue
      const answer = ask("prompt", input.sessionID, directory, part.text)
      if (answer.action === "replace") part.text = answer.content
    }
  },
  "tool.execute.before": async (input, output) => {
    const answer = ask("input", input.sessionID, directory, output.args, input.tool)
    if (answer.action === "replace") Object.assign(output.args, answer.content)
  },
  "tool.execute.after": async (input, output) => {
    const content = { title: output.title, output: output.output, metadata: output.metadata }
    const answer = ask("result", input.sessionID, directory, content, input.tool)
    if (answer.action === "replace") Object.assign(output, answer.content)
  },
  "experimental.chat.messages.transform": async (_input, output) => {
    // All that goes to the model, also what the conversation keeps with its values.
    const parts = output.messages.flatMap((message) => message.parts)
    const content = parts.map((part) =>
      part.type === "tool" ? { input: part.state?.input, output: part.state?.output, error: part.state?.error }
        : { text: part.text, url: part.type === "file" && part.url?.startsWith("data:text/") ? part.url : undefined })
    const session = output.messages[0]?.info?.sessionID
    if (!session) return
    const answer = ask("result", session, directory, content, "the request")
    if (answer.action !== "replace") return
    answer.content.forEach((masked, number) => Object.assign(parts[number].state ?? parts[number], masked))
  },
  "experimental.text.complete": async (input, output) => {
    const answer = ask("display", input.sessionID, directory, output.text, "text")
    if (answer.action === "replace") output.text = answer.content
  },
})
