import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView } from '../../api/contract/session-view.ts'
import { spelt } from '../../lib/terminal-text.ts'
import { readChange, readCheckpoints, readDiff } from '../../views/checkpoints.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { type Whose, whose } from '../restore/whose.ts'
import { toJson } from '../screen/json.ts'
import { isCheckpointWord, whichCheckpoint } from '../session/which-checkpoint.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function diff(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out, err } = screen
  const { name, from, to } = read(line.words)
  const session = await whose(name, undefined, surroundings)
  const wishes = [from, to]
  if (wishes.includes('now') && !session.isKnown) refuseNow(session)
  const all = await readCheckpoints(home, session)
  const now = wishes.includes('now') ? (await (await ensureDaemon(home)).checkpoint(session.id)).checkpoint : null
  const [first, last] = wishes.map(word => (word === 'now' && now !== null ? now : whichCheckpoint(all, word, session)))
  const between = { from: (first as CheckpointView).commit, to: (last as CheckpointView).commit }
  if (line.has(OPTIONS.json)) {
    const change = await readChange(home, session, between)
    out.say(toJson({ from: first, to: last, ...change }))
    return 0
  }
  const text = await readDiff(home, session, between, { stat: line.has(OPTIONS.stat), colour: out.isColoured })
  if (text === '') err.say(same(session, first as CheckpointView, last as CheckpointView))
  else await out.pour(Buffer.from(out.isTerminal ? spelt(text, { colour: out.isColoured }) : text))
  return 0
}

/** A name is no checkpoint's word: whatever looks like one is. `NAME@1 NAME@2` is `NAME 1 2`. */
function read(given: readonly string[]): { name: string | undefined; from: string; to: string } {
  const parts = given.map(word => /^(.+)@([^@]+)$/.exec(word))
  const names = [...new Set(parts.flatMap(part => part?.[1] ?? []))]
  if (names.length > 1)
    throw refusal('usage', `${names.join(' and ')} are two sessions`, 'compare two checkpoints of one session')
  const words = [...names, ...given.flatMap((word, at) => parts[at]?.[2] ?? (names.includes(word) ? [] : [word]))]
  const [first, ...rest] = words
  const isNamed = first !== undefined && !isCheckpointWord(first)
  const [from = 'first', to = 'last'] = isNamed ? rest : words
  return { name: isNamed ? first : undefined, from, to }
}

function refuseNow({ name }: Whose): never {
  throw refusal(
    'no-session',
    `${name} belongs to no session here, so oneshot cannot save its files now`,
    `oneshot diff ${name}`,
  )
}

function same({ name }: Whose, first: CheckpointView, last: CheckpointView): string {
  if (first.number === last.number) return `${name} has changed nothing since checkpoint ${first.number}`
  return `checkpoints ${first.number} and ${last.number} of ${name} hold the same files`
}
