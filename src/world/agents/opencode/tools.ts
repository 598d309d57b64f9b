import { oneLine } from '../../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { type Json, json, jsons, text } from '../json.ts'
import { planOf } from '../plan-of.ts'
import { called, gistOf, returned } from '../telling.ts'

/** A tool is told of once, when it is over. */
export function readTool(part: Json, memory: Memory): Reading {
  const state = json(part['state'])
  const tool = text(part['tool'])
  const id = text(part['callID'])
  const gist = oneLine(gistIn(state))
  const { output, hasFailed } = resultOf(tool, state)
  const edits = hasFailed ? [] : editsIn(tool, state)
  return {
    observations: [
      { type: 'tool-started', id, tool, gist },
      { type: 'tool-ended', id },
      ...edits.map((path): Observation => ({ type: 'edited', path })),
      ...(tool === 'todowrite' && !hasFailed ? [planOf(todosIn(state), 'content')] : []),
    ],
    text: `${called(tool, gist)}${returned(output, hasFailed) ?? ''}`,
    memory: isRefused(state) ? { ...memory, refused: oneLine(`${tool} ${gist}`).slice(0, 200) } : memory,
  }
}

/** A subagent's refusal is passed on in other words, and the turn goes on after it. */
function isRefused(state: Json): boolean {
  return state['status'] === 'error' && text(state['error']).startsWith('The user rejected permission')
}

/** A patch is told apart by its files, a todo list by what stands in it; the rest by its arguments. */
function gistIn(state: Json): string {
  const paths = filesIn(state)
  if (paths.length > 0) return paths.join(' ')
  const todos = todosIn(state).map(todo => text(todo['content']))
  return todos.length > 0 ? todos.join(', ') : gistOf(state['input'])
}

function todosIn(state: Json): readonly Json[] {
  return jsons(json(state['input'])['todos'])
}

function resultOf(tool: string, state: Json): { output: string; hasFailed: boolean } {
  if (state['status'] === 'error') return { output: text(state['error']), hasFailed: true }
  const output = text(state['output'])
  const { exit } = json(state['metadata'])
  if (typeof exit === 'number' && exit !== 0) {
    return { output: `${output.trimEnd()}\nexit status ${exit}`.trim(), hasFailed: true }
  }
  if (tool === 'invalid') return { output, hasFailed: true } // How a tool that does not exist is called.
  return { output: TELLS_NOTHING.has(tool) ? '' : output.replace(WRAPPING, ''), hasFailed: false }
}

const EDITORS = new Set(['write', 'edit', 'multiedit', 'patch', 'apply_patch'])
/** What these give back when all went well is known from how they were called. */
const TELLS_NOTHING = new Set([...EDITORS, 'todowrite'])
/** Around the answer of a subagent, and in the place of no answer at all. */
const WRAPPING = /^\(no output\)$|^<\/?task(?:_result)?\b[^>\n]{0,200}>\n?/gm

function editsIn(tool: string, state: Json): string[] {
  if (!EDITORS.has(tool)) return []
  const paths = filesIn(state)
  return paths.length > 0 ? paths : [text(json(state['input'])['filePath'])].filter(path => path !== '')
}

/** The files of an `apply_patch`. */
function filesIn(state: Json): string[] {
  const files = jsons(json(state['metadata'])['files']).map(file => text(file['filePath']))
  return files.filter(path => path !== '')
}
