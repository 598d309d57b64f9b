import type { ChannelType } from '../../core/channels.ts'
import { NOTICE_KINDS, type NoticeKind } from '../../core/notice-kinds.ts'
import { nearest } from '../../lib/nearest.ts'
import { splitWords } from '../../lib/split-words.ts'
import { refusal } from '../contract/problems.ts'
import { CHANNEL_TYPE_NAMES, CHANNEL_TYPES, type Field, keysOf } from './channel-types.ts'
import { readUserFile } from './files.ts'

/** A channel as it is written in the user's file, checked. What is secret is not looked up before it is used. */
export interface ChannelEntry {
  readonly name: string
  readonly type: ChannelType
  readonly events: readonly NoticeKind[]
  readonly given: Readonly<Record<string, string | readonly string[]>>
}

export const ALL_EVENTS: readonly string[] = NOTICE_KINDS

/** The channels of the user, as they are configured now. */
export async function loadChannels(env: NodeJS.ProcessEnv): Promise<ChannelEntry[]> {
  const table = await readUserFile(env)
  return table === null ? [] : readChannels(table['notify'], 'your config file')
}

/** Checks the `notify` table of a file. No value that may be a secret is told in a refusal. */
export function readChannels(table: unknown, where: string): ChannelEntry[] {
  if (table === undefined) return []
  if (!isTable(table)) throw wrong(`notify (${where}) must be tables, one for each channel`, '[notify.phone]')
  return Object.entries(table).map(([name, settings]) => {
    const place = `notify.${name} (${where})`
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name))
      throw wrong(
        `notify.${JSON.stringify(name)} cannot be a channel's name`,
        'letters, digits, - and _, such as phone',
      )
    if (!isTable(settings)) throw wrong(`${place} must be a table`, `[notify.${name}]`)
    const { type, events, ...given } = settings
    return { name, type: typeOf(type, place), events: eventsOf(events, place), given: checked(given, type, place) }
  })
}

function typeOf(type: unknown, place: string): ChannelType {
  const known = CHANNEL_TYPE_NAMES.find(name => name === type)
  if (known !== undefined) return known
  const said = type === undefined ? 'has no type' : `cannot have the type ${JSON.stringify(type)}`
  throw wrong(`${place} ${said}`, meant(type, CHANNEL_TYPE_NAMES) ?? `one of ${CHANNEL_TYPE_NAMES.join(', ')}`)
}

function eventsOf(events: unknown, place: string): readonly NoticeKind[] {
  if (events === undefined) return NOTICE_KINDS
  const list: unknown[] = Array.isArray(events) ? events : [events]
  return list.map(event => {
    const known = NOTICE_KINDS.find(kind => kind === event)
    if (known !== undefined) return known
    const hint = meant(event, NOTICE_KINDS) ?? `some of ${NOTICE_KINDS.join(', ')}`
    throw wrong(`${place}: there is no event ${JSON.stringify(event)}`, hint)
  })
}

function checked(given: Record<string, unknown>, type: unknown, place: string): ChannelEntry['given'] {
  const fields = CHANNEL_TYPES[type as ChannelType]
  const allowed = Object.entries(fields).flatMap(([name, field]) => keysOf(name, field))
  for (const key of Object.keys(given)) {
    if (allowed.includes(key)) continue
    const known = ['type', 'events', ...allowed]
    const hint = meant(key, known) ?? `it has ${known.join(', ')}`
    throw wrong(`${place}: a channel of the type ${String(type)} has no ${JSON.stringify(key)}`, hint)
  }
  for (const [name, field] of Object.entries(fields)) checkOnce(given, name, field, place)
  if (type === 'command' && 'run' in given === 'shell' in given)
    throw wrong(`${place} needs either run or shell`, 'run = "program --option", or shell = "for sh -c"')
  return given as ChannelEntry['given']
}

function checkOnce(given: Record<string, unknown>, name: string, field: Field, place: string): void {
  const keys = keysOf(name, field)
  const used = keys.filter(key => key in given)
  if (used.length > 1) throw wrong(`${place} has both ${used.join(' and ')}`, 'give one of them')
  const [key] = used
  if (key === undefined) {
    if (field.isRequired) throw wrong(`${place} has no ${name}`, keys.map(known => `${known} = "…"`).join(', or '))
    return
  }
  const problem = problemWith(given[key], key === name ? field : { kind: 'text' })
  if (problem !== undefined) throw wrong(`${place}: ${key} must be ${problem}`, 'see docs/notifications.md')
}

/** What it must be, when it is not. */
function problemWith(value: unknown, { kind, schemes = [] }: Field): string | undefined {
  if (kind === 'mailboxes') {
    const all: unknown[] = Array.isArray(value) ? value : [value]
    return all.length > 0 && all.every(isMailbox) ? undefined : 'a mail address, or a list of them'
  }
  if (kind === 'mailbox') return isMailbox(value) ? undefined : 'a mail address'
  if (typeof value !== 'string' || value === '') return 'text'
  if (kind === 'command') return (splitWords(value) ?? []).length > 0 ? undefined : 'a command whose quotes are closed'
  if (kind !== 'address') return undefined
  return URL.canParse(value) && schemes.includes(new URL(value).protocol)
    ? undefined
    : `an address that begins with ${schemes.map(scheme => `${scheme}//`).join(' or ')}`
}

/** Nothing in it can begin another line or another address. */
function isMailbox(value: unknown): boolean {
  return typeof value === 'string' && /^[^\s<>"',;:@()]+@[^\s<>"',;:@()]+$/.test(value)
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function meant(word: unknown, known: readonly string[]): string | undefined {
  const near = typeof word === 'string' ? nearest(word, known) : undefined
  return near === undefined ? undefined : `did you mean ${near}?`
}

function wrong(message: string, hint: string): Error {
  return refusal('config-invalid', message, hint)
}
