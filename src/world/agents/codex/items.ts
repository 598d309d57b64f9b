import { NOTHING_SPENT } from '../../../core/spending.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { type Json, jsons, list, text } from '../json.ts'
import { brief } from '../last-word.ts'
import { planOf } from '../plan-of.ts'
import { called, noted, returned, said } from '../telling.ts'
import { unknown } from '../unknown.ts'
import { type Tool, toolIn } from './tools.ts'

type Stage = 'item.started' | 'item.updated' | 'item.completed'

/** What an item of a turn means: words, thoughts, tools and plans. */
export function readItem(stage: Stage, item: Json, memory: Memory): Reading {
  const type = text(item['type'])
  switch (type) {
    case 'agent_message':
      return stage === 'item.completed' ? spoken(text(item['text']), memory) : NOTHING
    case 'reasoning':
      return answering([], null, memory)
    case 'error': // Mere warnings come like this, too: a turn that fails of one says so itself.
      return { observations: [], text: noted(text(item['message'])) }
    case 'todo_list':
      return { observations: [planIn(item)], text: stage === 'item.completed' ? null : noted(progressOf(item)) }
    case 'command_execution':
    case 'file_change':
    case 'mcp_tool_call':
    case 'collab_tool_call':
    case 'web_search':
      return used(stage, item, memory)
    default:
      return unknown(`item/${type}`)
  }
}

const NOTHING: Reading = { observations: [], text: null }

function spoken(words: string, memory: Memory): Reading {
  const line = oneLine(words)
  return answering([], said(words), line === '' ? memory : { ...memory, said: brief(line) })
}

/** Words before a tool are announcements: what counts as the answer comes after the last one. */
function used(stage: Stage, item: Json, memory: Memory): Reading {
  if (stage === 'item.updated') return NOTHING
  const tool = toolIn(item)
  const open = list(memory['open']).map(text)
  if (stage === 'item.started') return started(tool, { ...memory, open: [...open, tool.id] })
  // Some kinds are told of only when they are over.
  const begin = open.includes(tool.id) ? { ...NOTHING, memory } : started(tool, memory)
  return {
    observations: [...begin.observations, ...ended(tool)],
    text: `${begin.text ?? ''}${returned(tool.output, tool.hasFailed) ?? ''}` || null,
    memory: { ...begin.memory, answering: tool.isWithinAnswer, open: open.filter(id => id !== tool.id) },
  }
}

function started({ id, tool, gist }: Tool, memory: Memory): Reading {
  return answering([{ type: 'tool-started', id, tool, gist }], called(tool, gist), { ...memory, said: '' })
}

function ended({ id, edits }: Tool): Observation[] {
  return [{ type: 'tool-ended', id }, ...edits.map((path): Observation => ({ type: 'edited', path }))]
}

/**
 * codex does not say where an answer of the model begins. What follows the end of a tool is a new one: right unless an
 * answer asked for several tools and codex ran them one after the other.
 */
function answering(observations: Observation[], words: string | null, memory: Memory): Reading {
  if (memory['answering'] === true) return { observations, text: words, memory }
  const spent: Observation = { type: 'spent', scope: 'step', spending: { ...NOTHING_SPENT, turns: 1 } }
  return { observations: [spent, ...observations], text: words, memory: { ...memory, answering: true } }
}

/** Which of its steps is under way codex 0.166 does not tell. */
function planIn(item: Json): Observation {
  const steps = jsons(item['items'])
  return planOf(
    steps.map(step => ({ ...step, status: step['completed'] === true ? 'completed' : 'pending' })),
    'text',
  )
}

function progressOf(item: Json): string {
  const steps = jsons(item['items'])
  const done = steps.filter(step => step['completed'] === true).length
  const next = steps.find(step => step['completed'] !== true)
  return `plan: ${done} of ${steps.length} done${next === undefined ? '' : `, next ${text(next['text'])}`}`
}
