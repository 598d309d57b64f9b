/** Used tokens, money and turns. The cost is null for programs that do not report it. */
export interface Usage {
  /** Tokens that the model read, those from its cache included. */
  readonly input: number
  /** The part of `input` that came from the cache. */
  readonly cached: number
  readonly output: number
  readonly usd: number | null
  /** The number of answers of the model. */
  readonly turns: number
}

/** The usage of earlier attempts, of the current one, and of the thread as its program counts it. */
export interface UsageLedger {
  readonly before: Usage
  readonly attempt: Usage
  readonly thread: Usage
  readonly threadBefore: Usage
  /**
   * The usage before somebody last resumed the session, with that of the sessions it started. The limits count from
   * there.
   */
  readonly waived: Usage
  /**
   * The usage of the sessions that this one started, directly or indirectly. Absent: it started none that reports
   * usage.
   */
  readonly children?: ChildrenCharge
}

export interface ChildrenCharge {
  readonly spent: Usage
  /** The budgets reserved for live sessions, minus their usage so far. */
  readonly reserved: Usage
}

/** The limits of all attempts of a session together; null for no limit. */
export interface UsageLimits {
  readonly usd: number | null
  readonly tokens: number | null
  readonly turns: number | null
}

export const NO_LIMITS: UsageLimits = { usd: null, tokens: null, turns: null }

export const NO_USAGE: Usage = { input: 0, cached: 0, output: 0, usd: null, turns: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => x + y)
}

/** Returns `total` minus `before`, never below zero. */
export function subtractUsage(total: Usage, before: Usage): Usage {
  return combine(total, before, (x, y) => Math.max(0, x - y))
}

function combine(a: Usage, b: Usage, op: (x: number, y: number) => number): Usage {
  return {
    input: op(a.input, b.input),
    cached: op(a.cached, b.cached),
    output: op(a.output, b.output),
    usd: a.usd === null && b.usd === null ? null : op(a.usd ?? 0, b.usd ?? 0),
    turns: op(a.turns, b.turns),
  }
}

export function hasUsage({ input, output, turns }: Usage): boolean {
  return input + output + turns > 0
}

export function totalUsage({ before, attempt }: UsageLedger): Usage {
  return addUsage(before, attempt)
}

/** Returns the usage of the session and of those that it started. */
export function spentWithChildren(ledger: UsageLedger): Usage {
  return addUsage(totalUsage(ledger), ledger.children?.spent ?? NO_USAGE)
}

/** Returns the usage that counts against the limits. */
export function chargedUsage(ledger: UsageLedger): Usage {
  return addUsage(subtractUsage(spentWithChildren(ledger), ledger.waived), ledger.children?.reserved ?? NO_USAGE)
}

/** Returns a sentence about the limit that was reached, or null. */
export function checkBudget(limits: UsageLimits, ledger: UsageLedger): string | null {
  const spent = chargedUsage(ledger)
  const tokens = spent.input + spent.output
  const family = familyOf(ledger)
  if (limits.usd !== null && (spent.usd ?? 0) >= limits.usd)
    return `the budget of $${limits.usd} was reached: $${(spent.usd ?? 0).toFixed(2)} were spent${family}`
  if (limits.tokens !== null && tokens >= limits.tokens)
    return `the budget of ${limits.tokens} tokens was reached: ${tokens} were used${family}`
  if (limits.turns !== null && spent.turns >= limits.turns)
    return `the limit of ${limits.turns} turns was reached${family}`
  return null
}

function familyOf({ children }: UsageLedger): string {
  if (children === undefined) return ''
  const isReserved = hasUsage(children.reserved) || (children.reserved.usd ?? 0) > 0
  return `, with those of the sessions it started${isReserved ? ' and the budgets reserved for them' : ''}`
}

export function describeUsage({ input, output, usd, turns }: Usage): string {
  const cost = usd === null ? '' : `, $${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`
  return `${turns} ${turns === 1 ? 'turn' : 'turns'}, ${short(input)} tokens read, ${short(output)} written${cost}`
}

function short(count: number): string {
  if (count < 1_000) return String(count)
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}
