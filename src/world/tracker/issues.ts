import { type Issue, type Task, isIssueId, isSafeIssueId } from '../../core/session/tasks-and-tracker-issues.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { Trouble } from '../../lib/errors.ts'
import type { TrackerContext } from '../../ports/tracker.ts'
import { readBdJson, runBd, runBdCommand } from './bd-command.ts'
import { toWellFormed } from '../../lib/text/lossless-utf8.ts'

const MAX_TITLE_LENGTH = 300

/** Parses issues from bd's output. Anybody can write a title; the parser skips issues without a safe id. */
export function parseIssues(answer: unknown): Issue[] {
  if (answer === null || answer === undefined) return []
  if (!Array.isArray(answer)) throw new Trouble('reading issues of bd', 'its answer is not a list')
  return answer.flatMap((item: unknown) => parseIssue(item) ?? [])
}

function parseIssue(item: unknown): Issue | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { id, title, status } = item as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || !isSafeIssueId(id)) return undefined
  const text = typeof title === 'string' ? toOneLine(title).slice(0, MAX_TITLE_LENGTH) : ''
  return { id, title: text, state: STATES.get(status) ?? 'open' }
}

const STATES: ReadonlyMap<unknown, Task['state']> = new Map([
  ['in_progress', 'doing'],
  ['closed', 'done'],
  ['tombstone', 'done'],
])

/** bd 1.0 shows one issue as a list of one; other versions show it alone. */
function asList(answer: unknown): unknown {
  const isIssue = typeof answer === 'object' && answer !== null && 'id' in answer
  return isIssue ? [answer] : answer
}

export async function readIssue(context: TrackerContext, id: string, ending: AbortSignal): Promise<Issue | null> {
  return parseIssues(asList(await readBdJson(context, ['show', id], ending)))[0] ?? null
}

export function closeIssue(context: TrackerContext, id: string, reason: string, ending: AbortSignal): Promise<void> {
  return runBdCommand(context, ['close', id, '--reason', reason, '--json'], ending)
}

/** Reopens an issue, with a reason if bd has a command that accepts one. */
export async function reopenIssue(
  context: TrackerContext,
  id: string,
  reason: string,
  ending: AbortSignal,
): Promise<void> {
  const { code, stdout } = await runBd(context, ['reopen', '--help'], ending)
  const canReopen = code === 0 && stdout.includes('bd reopen') && stdout.includes('--reason')
  const args = canReopen ? ['reopen', id, '--reason', reason] : ['update', id, '--status', 'open']
  await runBdCommand(context, [...args, '--json'], ending)
}

/** An open issue with bd's details. */
export interface OpenIssue {
  readonly id: string
  readonly title: string
  readonly description: string
  /** The issues that block it according to bd, open or closed. */
  readonly blockers: readonly string[]
  /** The parent issue. */
  readonly parent: string | null
  readonly isEpic: boolean
  /** True if bd lists it as ready or in progress. */
  readonly isReady: boolean
}

/** Nobody works off a longer list. */
const OPEN_LIMIT_OPTION = ['--limit', '1000'] as const

type IssueFields = Readonly<Record<string, unknown>>

/**
 * Returns all issues that are open or in progress: first those in progress, then the ready ones in bd's order, then the
 * others.
 */
export async function readOpenIssues(context: TrackerContext, ending: AbortSignal): Promise<OpenIssue[]> {
  const ask = async (...args: string[]) =>
    parseRecords(await readBdJson(context, [...args, ...OPEN_LIMIT_OPTION], ending))
  const free = [...(await ask('list', '--status', 'in_progress')), ...(await ask('ready'))]
  const ready = new Set(free.map(([id]) => id))
  const all = new Map<string, IssueFields>()
  for (const [id, fields] of [...free, ...(await ask('list', '--status', 'open'))])
    all.set(id, { ...all.get(id), ...fields })
  for (const [id, fields] of all) {
    const isComplete = ready.has(id) || fields['dependencies'] !== undefined
    if (!isComplete) all.set(id, { ...fields, ...(await readFields(context, id, ending)) })
  }
  return parseIssues([...all.values()]).map(({ id, title }) => toOpenIssue(id, title, all.get(id) ?? {}, ready.has(id)))
}

/** bd 0.49: a list does not contain dependencies; we have to query each issue. */
async function readFields(context: TrackerContext, id: string, ending: AbortSignal): Promise<IssueFields> {
  return parseRecords(asList(await readBdJson(context, ['show', id], ending)))[0]?.[1] ?? {}
}

/** Returns the fields of each issue with a safe id. */
function parseRecords(answer: unknown): [string, IssueFields][] {
  const records = Array.isArray(answer) ? (answer as unknown[]) : []
  return records.flatMap(record =>
    parseIssues([record]).map(({ id }): [string, IssueFields] => [id, record as IssueFields]),
  )
}

function toOpenIssue(id: string, title: string, fields: IssueFields, isReady: boolean): OpenIssue {
  const links = parseDependencies(fields['dependencies'], id)
  const parent = fields['parent'] ?? links.find(({ type }) => type === 'parent-child')?.on
  return {
    id,
    title,
    description: formatDescription(fields),
    blockers: links.filter(({ type }) => type === 'blocks').map(({ on }) => on),
    parent: typeof parent === 'string' && isIssueId(parent) ? parent : null,
    isEpic: fields['issue_type'] === 'epic',
    isReady,
  }
}

/** bd 1.0: `list` names both ends of a dependency, `show` contains the other issue with the type of the dependency. */
function parseDependencies(value: unknown, id: string): { on: string; type: string }[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((link: unknown) => {
    const fields = (typeof link === 'object' && link !== null ? link : {}) as IssueFields
    const on = fields['depends_on_id'] ?? fields['id']
    const type = fields['type'] ?? fields['dependency_type'] ?? 'blocks'
    return typeof on === 'string' && isIssueId(on) && on !== id && typeof type === 'string' ? [{ on, type }] : []
  })
}

function formatDescription(fields: IssueFields): string {
  const parts = [
    [fields['description'], ''],
    [fields['design'], 'Design:\n'],
    [fields['acceptance_criteria'], 'Acceptance criteria:\n'],
  ] as const
  const words = parts.flatMap(([text, head]) =>
    typeof text === 'string' && text.trim() !== '' ? head + text.trim() : [],
  )
  return toWellFormed(words.join('\n\n'))
}
