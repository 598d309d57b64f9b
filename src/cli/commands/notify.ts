import { ALL_EVENTS, loadChannels } from '../../api/config/channels.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { ChannelView, TrialView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { channelViews } from '../../views/channels.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { terminalOf } from '../run/terminal-of.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { relative } from '../screen/when.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function notify(line: Line, surroundings: Surroundings): Promise<number> {
  const [action = 'list', channel] = line.words
  if (action === 'test') return await test(channel, line, surroundings)
  if (channel !== undefined) throw refusal('usage', 'notify list takes no channel', `oneshot notify test ${channel}`)
  return await list(line, surroundings)
}

async function list(line: Line, { env, home, screen }: Surroundings): Promise<number> {
  const { out, err, isQuiet } = screen
  const views = channelViews(await loadChannels(env), home)
  if (line.has(OPTIONS.json)) out.say(toJson(views))
  else if (isQuiet) for (const { name } of views) out.say(name)
  else if (views.length === 0) err.say('no channel is configured; docs/notifications.md has an example for each sort')
  else {
    const width = out.isTerminal ? out.width : Number.POSITIVE_INFINITY
    for (const text of renderTable(columnsFor(out), views, { headers: true, width })) out.say(text)
  }
  return 0
}

/** By the supervisor, from where real notices come: what works for it works. */
async function test(channel: string | undefined, line: Line, { env, home, screen }: Surroundings): Promise<number> {
  const { out, isQuiet } = screen
  const client = await ensureDaemon(home)
  const tty = terminalOf(env)
  const asked = { ...(channel !== undefined && { channel }), ...(tty !== undefined && { tty }) }
  const trials = await client.testNotify(asked)
  if (line.has(OPTIONS.json)) out.say(toJson(trials))
  else if (!isQuiet) for (const trial of trials) out.say(describe(trial, out))
  return trials.every(({ ok }) => ok) ? 0 : 1
}

function describe({ channel, ok, remark }: TrialView, { paint }: Outlet): string {
  return `${ok ? paint.green('✔ sent  ') : paint.red('✖ failed')} ${channel}: ${oneLine(remark)}`
}

function columnsFor(out: Outlet): Column<ChannelView>[] {
  const now = Date.now()
  const when = (at: string): string => (out.isTerminal ? relative(at, now) : at)
  return [
    { header: 'CHANNEL', text: ({ name }) => name },
    { header: 'TYPE', text: ({ type }) => type },
    { header: 'EVENTS', text: ({ events }) => (events.length === ALL_EVENTS.length ? 'all' : events.join(',')) },
    { header: 'PENDING', text: ({ pending }) => String(pending) },
    { header: 'DELIVERED', text: ({ deliveredAt }) => (deliveredAt === null ? '-' : when(deliveredAt)) },
    { header: 'SETTINGS', text: ({ settings }) => settingsOf(settings) },
    {
      header: 'FAILURE',
      text: ({ failedAt, failure }) => (failedAt === null ? '-' : `${when(failedAt)}: ${oneLine(failure ?? '')}`),
      paint: text => (text === '-' ? text : out.paint.red(text)),
    },
  ]
}

function settingsOf(settings: ChannelView['settings']): string {
  const pairs = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
  return oneLine(pairs.join(' ')) || '-'
}
