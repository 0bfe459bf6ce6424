// Plays a session with the official clients for Node: node clients.cjs GATEWAY-URL MAIL
const [, , url, mail] = process.argv;
const { OpenAI } = require("openai");
const { Anthropic } = require("@anthropic-ai/sdk");
const { GoogleGenAI } = require("@google/genai");
const prompt = `Write to ${mail} please`;
const messages = [{ role: "user", content: prompt }];

async function main() {
  const told = {};
  const openai = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "made-up" });
  told.chat = "";
  let calls = "";
  for await (const chunk of await openai.chat.completions.create({ model: "m", messages, stream: true })) {
    const { index, delta } = chunk.choices[0];
    if (index === 0) told.chat += delta.content ?? "";
    for (const call of delta.tool_calls ?? []) calls += call.function.arguments;
  }
  told.chat_call = JSON.parse(calls).to;
  for await (const event of await openai.responses.create({ model: "m", input: prompt, stream: true })) {
    if (event.type === "response.output_text.done") told.responses = event.text;
    if (event.type === "response.function_call_arguments.done") told.responses_call = JSON.parse(event.arguments).to;
  }
  const anthropic = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: "made-up" });
  const stream = anthropic.messages.stream({ model: "m", max_tokens: 9, messages });
  const { content } = await stream.finalMessage();
  told.anthropic = content[1].text;
  told.anthropic_call = content[2].input.to;
  const gemini = new GoogleGenAI({ apiKey: "made-up", httpOptions: { baseUrl: `${url}/gemini` } });
  told.gemini = "";
  for await (const chunk of await gemini.models.generateContentStream({ model: "g-1", contents: prompt })) {
    for (const part of chunk.candidates[0].content.parts) {
      told.gemini += part.text ?? "";
      if (part.functionCall) told.gemini_call = part.functionCall.args.to;
    }
  }
  console.log(JSON.stringify(told));
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
