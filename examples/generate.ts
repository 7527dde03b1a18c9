// Uses Gemini's format, without and with streaming.
import { Gateway } from 'model-gateway';

const client = new Gateway();

const answer = await client.generate.content({
  model: 'gemini-2.5-flash',
  contents: 'Why do leaves turn red?',
  systemInstruction: 'You are a botanist who answers in one sentence.',
  generationConfig: { temperature: 0.2, maxOutputTokens: 200 },
});
console.log(answer.text ?? `Refused: ${answer.blockReason}`);

const stream = await client.generate.contentStream({
  model: 'gemini-2.5-flash',
  contents: 'Describe a forest.',
});
for await (const piece of stream) process.stdout.write(piece.text ?? '');
console.log();
