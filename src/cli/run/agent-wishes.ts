import type { Config } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import type { Line } from '../line/line.ts'
import type { Option } from '../table/command.ts'
import { OPTIONS } from '../table/options.ts'

type Wishes = Pick<RunRequest, 'autonomy' | 'model' | 'effort' | 'limits' | 'thread'>

/** Options that mean something to an agent only. */
const FOR_AGENTS: readonly Option<unknown>[] = [
  OPTIONS.autonomy,
  OPTIONS.model,
  OPTIONS.effort,
  OPTIONS.maxTurns,
  OPTIONS.budgetUsd,
  OPTIONS.budgetTokens,
  OPTIONS.thread,
]

/** How the agent is to work. */
export function agentWishes(line: Line, config: Config): Wishes {
  const limits = given({
    usd: line.value(OPTIONS.budgetUsd),
    tokens: line.value(OPTIONS.budgetTokens),
    turns: line.value(OPTIONS.maxTurns),
  })
  const wishes = given({
    model: line.value(OPTIONS.model),
    effort: line.value(OPTIONS.effort),
    thread: line.value(OPTIONS.thread),
    limits: Object.keys(limits).length === 0 ? undefined : limits,
  })
  return { autonomy: line.value(OPTIONS.autonomy) ?? config.autonomy.value, ...wishes }
}

/** A command would not even hear of them. */
export function refuseWishes(line: Line): void {
  const option = FOR_AGENTS.find(known => line.has(known))
  if (option === undefined) return
  throw refusal('usage', `--${option.name} is for an agent with a prompt, and this is a command`, 'leave it out')
}

/** Nobody would count what it spends, look a conversation up, or see it end. */
export function checkUnsupervised({ limits, thread, memory, verify, onExit }: RunRequest): void {
  const wishes = [
    limits !== undefined && 'a budget',
    thread !== undefined && '--thread',
    memory !== undefined && '--memory',
    verify !== undefined && '--verify',
    onExit !== undefined && 'on-exit',
  ]
  const wish = wishes.find(known => known !== false)
  if (wish === undefined) return
  throw refusal(
    'usage',
    `${wish} needs the supervisor, and resilient is false`,
    'leave it out, or add -c resilient=true',
  )
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>
}
