import { wordsIn } from '../content.ts'
import { type Json, json, jsonIn, jsons, text } from '../json.ts'

const SIGN = '"type":"user"'
const NEWLINE = 10

/**
 * What people said in a thread, in order. Only lines that may hold it are decoded: a thread is made mostly of what tools gave
 * back and of copies of what the model was sent. A last line that was only half written is left out.
 */
export function promptsIn(bytes: Buffer): string[] {
  const prompts: string[] = []
  const seen = new Set<string>()
  let end = 0
  for (let at = bytes.indexOf(SIGN); at >= 0; at = bytes.indexOf(SIGN, end)) {
    const start = bytes.lastIndexOf(NEWLINE, at) + 1
    const next = bytes.indexOf(NEWLINE, at)
    end = next < 0 ? bytes.length : next
    const line = jsonIn(bytes.toString('utf8', start, end))
    if (line === null || !isPrompt(line) || seen.has(text(line['uuid']))) continue
    if (text(line['uuid']) !== '') seen.add(text(line['uuid']))
    prompts.push(typed(promptOf(line)))
  }
  return prompts
}

function isPrompt(line: Json): boolean {
  if (line['type'] !== 'user' || line['isSidechain'] === true) return false
  if (line['isMeta'] === true || line['isCompactSummary'] === true) return false
  // A task that ended speaks as the user: 2.1.197 marks it by its origin alone.
  const { kind } = json(line['origin'])
  if ((kind !== undefined && kind !== 'human') || line['promptSource'] === 'system') return false
  if (jsons(json(line['message'])['content']).some(block => block['type'] === 'tool_result')) return false
  // What nobody typed has no source, but neither have commands.
  return line['promptSource'] !== undefined || !NOTE.test(promptOf(line))
}

const NOTE = /^\s*(?:\[Request interrupted by user|<local-command-|<bash-std)/

function promptOf(line: Json): string {
  return wordsIn(json(line['message'])['content'])
}

/** A command is written down as its parts: `<command-name>/review</command-name>… <command-args>main</command-args>`. */
function typed(prompt: string): string {
  if (!/^\s*<command-(?:name|message)>/.test(prompt)) return prompt
  const name = between(prompt, '<command-name>', '</command-name>', 'first')
  const args = between(prompt, '<command-args>', '</command-args>', 'last') ?? ''
  return name === undefined ? prompt : `${name} ${args}`.trimEnd()
}

/** By plain searches: an expression would take the square of the number of marks. */
function between(text: string, begin: string, end: string, which: 'first' | 'last'): string | undefined {
  const at = text.indexOf(begin)
  const from = at + begin.length
  const to = which === 'first' ? text.indexOf(end, from) : text.lastIndexOf(end)
  return at < 0 || to < from ? undefined : text.slice(from, to)
}
