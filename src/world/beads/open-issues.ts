import { isIssueId } from '../../core/tracked.ts'
import { wellFormed } from '../../lib/lossless-text.ts'
import type { Place } from '../../ports/tracker.ts'
import { askBd } from './bd.ts'
import { asList, issuesIn } from './issues.ts'

/** An issue that is to be done, with what bd says about it. */
export interface OpenIssue {
  readonly id: string
  readonly title: string
  readonly description: string
  /** The issues that bd wants done before it, open or not. */
  readonly blockers: readonly string[]
  /** What it is part of. */
  readonly parent: string | null
  readonly isEpic: boolean
  /** Whether bd would have it worked on now. */
  readonly isReady: boolean
}

/** More than this is no list to work off. */
const MOST = ['--limit', '1000'] as const

type Fields = Readonly<Record<string, unknown>>

/** All that is open or under way: what is under way first, then what is ready, in bd's own order, then the rest. */
export async function openIssues(place: Place, ending: AbortSignal): Promise<OpenIssue[]> {
  const ask = async (...args: string[]) => recordsIn(await askBd(place, [...args, ...MOST], ending))
  const free = [...(await ask('list', '--status', 'in_progress')), ...(await ask('ready'))]
  const ready = new Set(free.map(([id]) => id))
  const all = new Map<string, Fields>()
  for (const [id, fields] of [...free, ...(await ask('list', '--status', 'open'))])
    all.set(id, { ...all.get(id), ...fields })
  for (const [id, fields] of all) {
    const isTold = ready.has(id) || fields['dependencies'] !== undefined
    if (!isTold) all.set(id, { ...fields, ...(await shown(place, id, ending)) })
  }
  return issuesIn([...all.values()]).map(({ id, title }) => openIssue(id, title, all.get(id) ?? {}, ready.has(id)))
}

/** bd 0.49: a list does not tell what its issues wait for; each has to be looked at. */
async function shown(place: Place, id: string, ending: AbortSignal): Promise<Fields> {
  return recordsIn(asList(await askBd(place, ['show', id], ending)))[0]?.[1] ?? {}
}

/** What bd tells of each issue that has a usable id. */
function recordsIn(answer: unknown): [string, Fields][] {
  const records = Array.isArray(answer) ? (answer as unknown[]) : []
  return records.flatMap(record => issuesIn([record]).map(({ id }): [string, Fields] => [id, record as Fields]))
}

function openIssue(id: string, title: string, fields: Fields, isReady: boolean): OpenIssue {
  const links = linksIn(fields['dependencies'], id)
  const parent = fields['parent'] ?? links.find(({ type }) => type === 'parent-child')?.on
  return {
    id,
    title,
    description: textIn(fields),
    blockers: links.filter(({ type }) => type === 'blocks').map(({ on }) => on),
    parent: typeof parent === 'string' && isIssueId(parent) ? parent : null,
    isEpic: fields['issue_type'] === 'epic',
    isReady,
  }
}

/** bd 1.0: `list` names both ends of a dependency, `show` has the other issue with the kind of dependency in it. */
function linksIn(value: unknown, id: string): { on: string; type: string }[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((link: unknown) => {
    const fields = (typeof link === 'object' && link !== null ? link : {}) as Fields
    const on = fields['depends_on_id'] ?? fields['id']
    const type = fields['type'] ?? fields['dependency_type'] ?? 'blocks'
    return typeof on === 'string' && isIssueId(on) && on !== id && typeof type === 'string' ? [{ on, type }] : []
  })
}

function textIn(fields: Fields): string {
  const parts = [
    [fields['description'], ''],
    [fields['design'], 'Design:\n'],
    [fields['acceptance_criteria'], 'Acceptance criteria:\n'],
  ] as const
  const words = parts.flatMap(([text, head]) =>
    typeof text === 'string' && text.trim() !== '' ? head + text.trim() : [],
  )
  return wellFormed(words.join('\n\n'))
}
