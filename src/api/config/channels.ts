import type { ChannelType } from '../../core/notify/channel.ts'
import { NOTICE_KINDS, type NoticeKind } from '../../core/notify/notice.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { splitShellWords } from '../../lib/text/shell-words.ts'
import { refusal } from '../contract/problems.ts'
import { readUserFile } from './config-files.ts'

/** A validated channel of the user's file. The supervisor reads its secrets only when it uses the channel. */
export interface ChannelEntry {
  readonly name: string
  readonly type: ChannelType
  readonly events: readonly NoticeKind[]
  readonly given: Readonly<Record<string, string | readonly string[]>>
}

export const ALL_EVENTS: readonly string[] = NOTICE_KINDS

/** Reads the user's channels from the current configuration. */
export async function loadChannels(env: NodeJS.ProcessEnv): Promise<ChannelEntry[]> {
  const table = await readUserFile(env)
  return table === null ? [] : readChannels(table['notify'], 'your config file')
}

/** Validates the `notify` table of a file. No refusal shows a value that may be a secret. */
export function readChannels(table: unknown, where: string): ChannelEntry[] {
  if (table === undefined) return []
  if (!isTable(table)) throw invalidConfig(`notify (${where}) must be tables, one for each channel`, '[notify.phone]')
  return Object.entries(table).map(([name, settings]) => {
    const location = `notify.${name} (${where})`
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name))
      throw invalidConfig(
        `notify.${JSON.stringify(name)} cannot be a channel's name`,
        'letters, digits, - and _, such as phone',
      )
    if (!isTable(settings)) throw invalidConfig(`${location} must be a table`, `[notify.${name}]`)
    const { type, events, ...given } = settings
    return {
      name,
      type: parseType(type, location),
      events: parseEvents(events, location),
      given: checkFields(given, type, location),
    }
  })
}

function parseType(type: unknown, location: string): ChannelType {
  const known = CHANNEL_TYPE_NAMES.find(name => name === type)
  if (known !== undefined) return known
  const said = type === undefined ? 'has no type' : `cannot have the type ${JSON.stringify(type)}`
  throw invalidConfig(
    `${location} ${said}`,
    suggest(type, CHANNEL_TYPE_NAMES) ?? `one of ${CHANNEL_TYPE_NAMES.join(', ')}`,
  )
}

function parseEvents(events: unknown, location: string): readonly NoticeKind[] {
  if (events === undefined) return NOTICE_KINDS
  const list: unknown[] = Array.isArray(events) ? events : [events]
  return list.map(event => {
    const known = NOTICE_KINDS.find(kind => kind === event)
    if (known !== undefined) return known
    const hint = suggest(event, NOTICE_KINDS) ?? `some of ${NOTICE_KINDS.join(', ')}`
    throw invalidConfig(`${location}: there is no event ${JSON.stringify(event)}`, hint)
  })
}

function checkFields(given: Record<string, unknown>, type: unknown, location: string): ChannelEntry['given'] {
  const fields = CHANNEL_TYPES[type as ChannelType]
  const allowed = Object.entries(fields).flatMap(([name, field]) => fieldKeys(name, field))
  for (const key of Object.keys(given)) {
    if (allowed.includes(key)) continue
    const known = ['type', 'events', ...allowed]
    const hint = suggest(key, known) ?? `it has ${known.join(', ')}`
    throw invalidConfig(`${location}: a channel of the type ${String(type)} has no ${JSON.stringify(key)}`, hint)
  }
  for (const [name, field] of Object.entries(fields)) assertGivenOnce(given, name, field, location)
  if (type === 'command' && 'run' in given === 'shell' in given)
    throw invalidConfig(`${location} needs either run or shell`, 'run = "program --option", or shell = "for sh -c"')
  return given as ChannelEntry['given']
}

function assertGivenOnce(given: Record<string, unknown>, name: string, field: ChannelField, location: string): void {
  const keys = fieldKeys(name, field)
  const used = keys.filter(key => key in given)
  if (used.length > 1) throw invalidConfig(`${location} has both ${used.join(' and ')}`, 'give one of them')
  const [key] = used
  if (key === undefined) {
    if (field.isRequired)
      throw invalidConfig(`${location} has no ${name}`, keys.map(known => `${known} = "…"`).join(', or '))
    return
  }
  const problem = describeProblem(given[key], key === name ? field : { kind: 'text' })
  if (problem !== undefined) throw invalidConfig(`${location}: ${key} must be ${problem}`, 'see docs/notifications.md')
}

/** Returns a description of the valid values if the value is invalid. */
function describeProblem(value: unknown, { kind, schemes = [] }: ChannelField): string | undefined {
  if (kind === 'mailboxes') {
    const all: unknown[] = Array.isArray(value) ? value : [value]
    return all.length > 0 && all.every(isEmailAddress) ? undefined : 'a mail address, or a list of them'
  }
  if (kind === 'mailbox') return isEmailAddress(value) ? undefined : 'a mail address'
  if (typeof value !== 'string' || value === '') return 'text'
  if (kind === 'command')
    return (splitShellWords(value) ?? []).length > 0 ? undefined : 'a command whose quotes are closed'
  if (kind !== 'address') return undefined
  return URL.canParse(value) && schemes.includes(new URL(value).protocol)
    ? undefined
    : `an address that begins with ${schemes.map(scheme => `${scheme}//`).join(' or ')}`
}

/** Rejects characters that could begin another header line or another address. */
function isEmailAddress(value: unknown): boolean {
  return typeof value === 'string' && /^[^\s<>"',;:@()]+@[^\s<>"',;:@()]+$/.test(value)
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function suggest(word: unknown, known: readonly string[]): string | undefined {
  const near = typeof word === 'string' ? didYouMean(word, known) : undefined
  return near === undefined ? undefined : `did you mean ${near}?`
}

function invalidConfig(message: string, hint: string): Error {
  return refusal('config-invalid', message, hint)
}

/** A setting of a channel as data. Validation, `notify list` and the documentation use it. */
export interface ChannelField {
  readonly isRequired?: boolean
  /**
   * The user gives a `secret` as its value, with `-env` as the name of a variable, or with `-file` as a file that holds
   * it; an `address` is the same for a URL. oneshot splits a `command` into words, but not a `shell` line.
   */
  readonly kind: 'secret' | 'address' | 'text' | 'mailbox' | 'mailboxes' | 'command' | 'shell'
  /** The allowed schemes of a URL. */
  readonly schemes?: readonly string[]
}

const WEB_URL: ChannelField = { kind: 'address', schemes: ['https:', 'http:'] }

export const CHANNEL_TYPES: Readonly<Record<ChannelType, Readonly<Record<string, ChannelField>>>> = {
  desktop: {},
  bell: {},
  ntfy: { url: { ...WEB_URL, isRequired: true }, token: { kind: 'secret' } },
  telegram: { token: { kind: 'secret', isRequired: true }, chat: { kind: 'text', isRequired: true }, url: WEB_URL },
  slack: { url: { ...WEB_URL, isRequired: true } },
  discord: { url: { ...WEB_URL, isRequired: true } },
  webhook: { url: { ...WEB_URL, isRequired: true }, token: { kind: 'secret' } },
  email: {
    to: { kind: 'mailboxes', isRequired: true },
    from: { kind: 'mailbox' },
    url: { kind: 'address', schemes: ['smtps:', 'smtp:'] },
    password: { kind: 'secret' },
  },
  openclaw: {},
  command: { run: { kind: 'command' }, shell: { kind: 'shell' } },
}

export const CHANNEL_TYPE_NAMES = Object.keys(CHANNEL_TYPES) as readonly ChannelType[]

/** Returns the keys that can set a field. */
export function fieldKeys(name: string, field: ChannelField): string[] {
  return field.kind === 'secret' || field.kind === 'address' ? [name, `${name}-env`, `${name}-file`] : [name]
}
