import type { Conversation, Item } from './conversation.ts'
import {
  type Answer,
  answerAt,
  DONE,
  toolActions,
  leavesTrace,
  type OnMessage,
  type Script,
  type Task,
} from './script.ts'

/** The next answer and the ids of its calls. */
export interface Choice {
  readonly answer: Answer
  readonly callName: (n: number) => string
}

/** A script and the position up to which it was played. */
export class ScriptPlayer {
  readonly #script: Script
  #turns = 0
  /** Failures already given: a conversation does not show them. */
  readonly #given = new Set<string>()

  constructor(script: Script) {
    this.#script = script
  }

  next(conversation: Conversation): Choice {
    const script = this.#script
    return 'length' in script ? this.#byPosition(script) : this.#byConversation(script, conversation)
  }

  #byPosition(answers: readonly Answer[]): Choice {
    const turn = this.#turns
    this.#turns += 1
    return choice(answerAt(answers, turn) ?? DONE, `call_p${turn}`)
  }

  #byConversation({ task = [], messages = [] }: Task, { items }: Conversation): Choice {
    for (const block of [...answeringBlocks(messages, items), { name: 'call', steps: task, since: 0 }]) {
      const next = this.#firstUndone(block, items)
      if (next !== undefined) return next
    }
    return choice(closingAnswer(task, items), 'call_end')
  }

  #firstUndone({ name, steps, since }: Block, items: readonly Item[]): Choice | undefined {
    let seen = since
    for (let step = 0; ; step += 1) {
      const answer = answerAt(steps, step)
      if (answer === undefined) return undefined
      const key = `${name}_${step}`
      if (leavesTrace(answer)) {
        const until = traceEnd(answer, key, items, seen)
        if (until === undefined) return choice(answer, key)
        seen = until
      } else if (!this.#given.has(key)) {
        this.#given.add(key)
        return choice(answer, key)
      }
    }
  }
}

/** Steps, and the item of the conversation after which their traces count. */
interface Block {
  readonly name: string
  readonly steps: readonly Answer[]
  readonly since: number
}

/** Returns a block for each message with a matching rule, in the order of the messages. */
function answeringBlocks(messages: readonly OnMessage[], items: readonly Item[]): Block[] {
  return userMessages(items).flatMap(({ text, place }, n) => {
    const found = messages.find(({ on }) => new RegExp(on).test(text))
    return found === undefined ? [] : [{ name: `call_m${n}`, steps: found.do, since: place + 1 }]
  })
}

/** Returns the position after the trace of this answer; undefined if the conversation has none. */
function traceEnd(answer: Answer, key: string, items: readonly Item[], since: number): number | undefined {
  const calls = toolActions(answer).map((_, n) => `${key}_${n}`)
  const traces =
    calls.length === 0
      ? [placeOf(items, since, item => item.kind === 'said' && item.text.trim() === saying(answer).trim())]
      : calls.map(id => placeOf(items, since, item => item.kind === 'result' && item.id === id))
  return traces.includes(-1) ? undefined : Math.max(...traces) + 1
}

function placeOf(items: readonly Item[], since: number, isIt: (item: Item) => boolean): number {
  return items.findIndex((item, place) => place >= since && isIt(item))
}

function saying(answer: Answer): string {
  return 'say' in answer ? (answer.say ?? '') : ''
}

function closingAnswer(task: readonly Answer[], items: readonly Item[]): Answer {
  const words = userMessages(items)
  const last = words.at(-1)
  const isNews = last?.place === items.length - 1 && (words.length > 1 || task.length === 0)
  return isNews ? { say: `Noted: ${last.text.slice(0, 60)}` } : DONE
}

function userMessages(items: readonly Item[]): { readonly text: string; readonly place: number }[] {
  return items.flatMap((item, place) => (item.kind === 'user' ? [{ text: item.text, place }] : []))
}

function choice(answer: Answer, key: string): Choice {
  return { answer, callName: n => `${key}_${n}` }
}
