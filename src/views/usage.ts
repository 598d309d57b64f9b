import fs from 'node:fs'
import type { SessionView, UsageView } from '../api/contract/session-view.ts'
import { usageOf } from '../world/os/usage.ts'

/** A session with more processes than this is summed up by the first of them. */
const MOST_PROCESSES = 1_000

/** What the living processes of a session use now; null when none lives. */
export async function usageIn({ pid }: SessionView): Promise<UsageView | null> {
  if (pid === null) return null
  const pids = withDescendants(pid)
  const { cpu, memory } = await usageOf(pids)
  return memory === 0 ? null : { processes: pids.length, cpuSeconds: cpu / 1_000, memoryBytes: memory }
}

function withDescendants(root: number): number[] {
  const pids = [root]
  for (let at = 0; at < pids.length && pids.length < MOST_PROCESSES; at += 1)
    pids.push(...childrenOf(pids[at] as number))
  return pids
}

/** Linux names them for each thread; elsewhere only the session's own process is counted. */
function childrenOf(pid: number): number[] {
  try {
    const threads = fs.readdirSync(`/proc/${pid}/task`)
    return threads.flatMap(thread => {
      const text = fs.readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim()
      return text === '' ? [] : text.split(' ').map(Number)
    })
  } catch {
    return []
  }
}
