import { memoryOf, privateOf } from '../measure/proc.ts'
import type { NotMeasured } from '../peers/install.ts'
import { Pm2 } from '../peers/pm2.ts'
import { Runit } from '../peers/runit.ts'
import type { Fleet } from '../product/fleet.ts'
import { type Measured, megabytes, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

/**
 * Measures the memory of the supervisor, and of each session beyond its agent: its shim and its share of the tmux
 * server.
 */
export async function memory(context: BenchContext): Promise<Row[]> {
  const rows: { daemon: Row[]; session: Row[] } = { daemon: [], session: [] }
  const fleet = await context.fleet('fleet')
  const pm2 = await context.pm2('pm2-fleet')
  const sizes = context.isQuick ? [1, 200] : [1, 50, 200]
  for (const count of sizes.filter(size => size >= fleet.sessions.length)) {
    await fleet.growTo(count)
    const { daemon, perSession } = await measure(fleet)
    const sessions = `${count} ${count === 1 ? 'session' : 'sessions'}`
    rows.daemon.push({
      figure: `RSS of the supervisor, ${sessions}`,
      ours: daemon,
      beside: { name: `pm2, ${count}`, theirs: pm2 instanceof Pm2 ? ofDaemon(pm2.growTo(count).daemon()) : pm2 },
      ...(count === 200 ? { aim: { of: 'ours', is: 'at most', limit: 65 } } : {}),
    })
    rows.session.push({
      figure: `private memory per session, ${sessions}`,
      ours: perSession,
      beside: { name: `runit’s runsv, ${count}`, theirs: await runitPerProgram(context, count) },
      aim: { of: 'ours', is: 'below', limit: 2 },
    })
  }
  return [...rows.daemon, ...rows.session]
}

async function measure(fleet: Fleet): Promise<{ daemon: Measured; perSession: Measured }> {
  const { daemon, tmux, shims } = await fleet.processes()
  const count = fleet.sessions.length
  if (shims.length !== count) throw new Error(`${shims.length} shims for ${count} sessions`)
  const server = memoryOf(tmux).private
  const perSession = (privateOf(shims) + server) / count
  const more = `of it tmux ${(server / count / 1e6).toFixed(2)}`
  return { daemon: ofDaemon(daemon), perSession: megabytes(perSession, more) }
}

function ofDaemon(pid: number): Measured {
  const { rss, pss } = memoryOf(pid)
  return megabytes(rss, `PSS ${(pss / 1e6).toFixed(1)}`)
}

async function runitPerProgram(
  { clone, peers, isQuick }: BenchContext,
  copies: number,
): Promise<Measured | NotMeasured> {
  if (isQuick) return { notMeasured: 'left out of the short run' }
  if (typeof peers.runsvdir !== 'string') return peers.runsvdir
  const runit = await Runit.start(peers.runsvdir, clone, { name: `runit-${copies}`, command: 'sleep 100000', copies })
  try {
    return megabytes((privateOf(runit.keepers()) + memoryOf(runit.daemon()).private) / copies)
  } finally {
    await runit.close()
  }
}
