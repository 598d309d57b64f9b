import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ChannelAddress } from '../../core/notify/channel.ts'
import { Secret } from '../../lib/secret.ts'
import { splitShellWords } from '../../lib/text/shell-words.ts'
import { errorMessage } from '../../lib/errors.ts'
import { refusal } from '../contract/problems.ts'
import type { ChannelEntry } from './channels.ts'
import { CHANNEL_TYPES, fieldKeys } from './channels.ts'

const TELEGRAM_URL = 'https://api.telegram.org'

/** Returns the address for a channel's driver, with its secrets read now. Refuses when a secret is missing. */
export function resolveChannelAddress(entry: ChannelEntry, env: NodeJS.ProcessEnv): ChannelAddress {
  const address = resolveFields(entry, env)
  assertEncrypted(entry, address)
  return address
}

/**
 * Refuses to send a token, a login, or an address that is itself the key over HTTP, except to this machine. The mail
 * driver has this rule itself.
 */
function assertEncrypted({ name }: ChannelEntry, address: ChannelAddress): void {
  if (!('url' in address) || address.url === null || address.type === 'email') return
  const { protocol, hostname, username, password } = new URL(address.url.reveal())
  if (protocol !== 'http:' || isLocalhost(hostname)) return
  const isKey = address.type === 'slack' || address.type === 'discord'
  const hasToken = 'token' in address && address.token !== null
  if (!isKey && !hasToken && username === '' && password === '') return
  throw refusal(
    'config-invalid',
    `notify.${name}: http: would send its ${isKey ? 'address, which is the key,' : 'token'} unencrypted to ${hostname}`,
    hasToken ? 'use https:, or leave the token out' : 'use https:',
  )
}

function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function resolveFields(entry: ChannelEntry, env: NodeJS.ProcessEnv): ChannelAddress {
  const secret = (name: string): Secret | null => resolveSecret(entry, name, env)
  const needed = (name: string): Secret => secret(name) ?? new Secret('')
  const text = (name: string): string | null => (typeof entry.given[name] === 'string' ? entry.given[name] : null)
  const { type } = entry
  switch (type) {
    case 'desktop':
    case 'bell':
    case 'openclaw':
      return { type }
    case 'ntfy':
    case 'webhook':
      return { type, url: needed('url'), token: secret('token') }
    case 'telegram':
      return { type, url: secret('url') ?? new Secret(TELEGRAM_URL), token: needed('token'), chat: text('chat') ?? '' }
    case 'slack':
    case 'discord':
      return { type, url: needed('url') }
    case 'email':
      return {
        type,
        to: [entry.given['to'] ?? []].flat(),
        from: text('from'),
        url: secret('url'),
        password: secret('password'),
      }
    case 'command': {
      const shell = text('shell')
      return { type, argv: shell === null ? (splitShellWords(text('run') ?? '') ?? []) : ['sh', '-c', shell] }
    }
  }
}

function resolveSecret(entry: ChannelEntry, field: string, env: NodeJS.ProcessEnv): Secret | null {
  const { given, name, type } = entry
  const read = (key: string): string | undefined => (typeof given[key] === 'string' ? given[key] : undefined)
  const variable = read(`${field}-env`)
  const file = read(`${field}-file`)
  const value =
    variable !== undefined
      ? readVariable(name, variable, env)
      : file !== undefined
        ? readSecretFile(name, file, env)
        : read(field)
  if (value === undefined) return null
  const { schemes } = CHANNEL_TYPES[type][field] ?? {}
  if (schemes === undefined || (URL.canParse(value) && schemes.includes(new URL(value).protocol)))
    return new Secret(value)
  throw refusal(
    'config-invalid',
    `notify.${name}: its ${field} does not lead to an address`,
    `${schemes.join('//, ')}//`,
  )
}

function readVariable(name: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = env[variable]
  if (value) return value
  throw refusal(
    'config-invalid',
    `notify.${name}: ${variable} is not set in the supervisor's environment`,
    `oneshot daemon restart, where ${variable} is set; or give a file that holds it`,
  )
}

function readSecretFile(name: string, file: string, env: NodeJS.ProcessEnv): string {
  const full = file.startsWith('~/') ? path.join(env['HOME'] || os.homedir(), file.slice(2)) : file
  try {
    const text = fs.readFileSync(full, 'utf8').trim()
    if (text !== '') return text
    throw new Error('it is empty')
  } catch (cause) {
    throw refusal('config-invalid', `notify.${name}: ${file} cannot be used: ${errorMessage(cause)}`, 'check the path')
  }
}

/** Describes the channel's settings for people: masks secrets, and shows only the host of an address. */
export function describeChannel(entry: ChannelEntry): Record<string, string> {
  const fields = CHANNEL_TYPES[entry.type]
  const settings = Object.entries(fields).flatMap(([name, field]) =>
    fieldKeys(name, field).flatMap(key => {
      const value = entry.given[key]
      if (value === undefined) return []
      if (key.endsWith('-env') && key !== name) return [[name, `$${String(value)}`] as const]
      if (key !== name || typeof value !== 'string') return [[name, [value].flat().join(', ')] as const]
      if (field.kind === 'address') return [[name, parseHost(value)] as const]
      return [[name, field.kind === 'secret' ? String(new Secret(value)) : value] as const]
    }),
  )
  return Object.fromEntries(settings)
}

function parseHost(address: string): string {
  const { protocol, host } = new URL(address)
  return `${protocol}//${host}/${String(new Secret(address))}`
}
