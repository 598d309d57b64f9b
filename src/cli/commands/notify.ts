import { ALL_EVENTS, loadChannels } from '../../api/config/channels.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { ChannelView, ChannelTestView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { toChannelViews } from '../../views/channel-views.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { relativeTime } from '../terminal/format.ts'
import { bellTerminal, type Command, type CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { choiceType, textType } from '../args/value-types.ts'

const NOTIFY_ACTIONS = ['list', 'test'] as const

export const command: Command = {
  name: 'notify',
  group: 'Set-up',
  order: 20,
  summary: 'show and test notifications',
  about: `Channels are tables in your own config file, such as [notify.phone]: desktop, bell, ntfy,
telegram, slack, discord, webhook, email, openclaw, or any command. oneshot sends a
notification when a session is done, failed, gave up, was stopped by a limit, waits for
you, rests for a limit, or restarts too often. test exits with 1 when a channel fails.`,
  arguments: [
    { valueType: choiceType('ACTION', NOTIFY_ACTIONS), summary: `${NOTIFY_ACTIONS.join(', ')}; list unless given` },
    { valueType: textType('CHANNEL', 'channels'), summary: 'the channel to test; all of them unless given' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['notify'], description: 'the channels, what is pending and what failed' },
    { argv: ['notify', 'test', 'phone'], description: 'send a test to one of them' },
  ],
  run: notify,
}

async function notify(args: ParsedArgs, context: CommandContext): Promise<number> {
  const [action = 'list', channel] = args.positionals
  if (action === 'test') return await testChannels(channel, args, context)
  if (channel !== undefined) throw refusal('usage', 'notify list takes no channel', `oneshot notify test ${channel}`)
  return await list(args, context)
}

async function list(args: ParsedArgs, { env, home, screen }: CommandContext): Promise<number> {
  const { out, err, isQuiet } = screen
  const views = toChannelViews(await loadChannels(env), home)
  if (args.has(OPTIONS.json)) out.printLine(toJson(views))
  else if (isQuiet) for (const { name } of views) out.printLine(name)
  else if (views.length === 0)
    err.printLine('no channel is configured; docs/notifications.md has an example of each kind')
  else {
    const width = out.isTerminal ? out.width : Number.POSITIVE_INFINITY
    for (const text of renderTable(columnsFor(out), views, { headers: true, width })) out.printLine(text)
  }
  return 0
}

/** The supervisor sends the test, as it sends real notifications: a channel that works for it works. */
async function testChannels(channel: string | undefined, args: ParsedArgs, context: CommandContext): Promise<number> {
  const { out, isQuiet } = context.screen
  const client = await ensureDaemon(context)
  const tty = bellTerminal(context)
  const request = { ...(channel !== undefined && { channel }), ...(tty !== undefined && { tty }) }
  const results = await client.testChannels(request)
  if (args.has(OPTIONS.json)) out.printLine(toJson(results))
  else if (!isQuiet) for (const result of results) out.printLine(describe(result, out))
  return results.every(({ ok }) => ok) ? 0 : 1
}

function describe({ channel, ok, remark }: ChannelTestView, { paint }: Output): string {
  return `${ok ? paint.green('✔ sent  ') : paint.red('✖ failed')} ${channel}: ${toOneLine(remark)}`
}

function columnsFor(out: Output): Column<ChannelView>[] {
  const now = Date.now()
  const when = (at: string): string => (out.isTerminal ? relativeTime(at, now) : at)
  return [
    { header: 'CHANNEL', text: ({ name }) => name },
    { header: 'TYPE', text: ({ type }) => type },
    { header: 'EVENTS', text: ({ events }) => (events.length === ALL_EVENTS.length ? 'all' : events.join(',')) },
    { header: 'PENDING', text: ({ pending }) => String(pending) },
    { header: 'DELIVERED', text: ({ deliveredAt }) => (deliveredAt === null ? '-' : when(deliveredAt)) },
    { header: 'SETTINGS', text: ({ settings }) => formatSettings(settings) },
    {
      header: 'FAILURE',
      text: ({ failedAt, failure }) => (failedAt === null ? '-' : `${when(failedAt)}: ${toOneLine(failure ?? '')}`),
      color: text => (text === '-' ? text : out.paint.red(text)),
    },
  ]
}

function formatSettings(settings: ChannelView['settings']): string {
  const pairs = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
  return toOneLine(pairs.join(' ')) || '-'
}
