import { Session } from 'node:inspector'
import { backtracksOf } from './regex-backtracks.ts'

/**
 * Counts the steps of a synchronous action: each block of oneshot's code and of packages that V8 enters, each character
 * that a built-in function reads, and each step forward or back of a regular expression. The number is the same in each
 * run and on each machine. Only the work of built-in functions on objects (`{...known}`) does not count.
 */
export function countSteps(action: () => void): number {
  countBlocks() // This resets the counter.
  const [steps, restore] = countBuiltins()
  try {
    action()
  } finally {
    restore()
  }
  return countBlocks() + steps()
}

let session: Session | undefined

/** Returns the blocks entered since the last call. V8 counts them exactly, as for coverage. */
function countBlocks(): number {
  if (session === undefined) {
    session = new Session()
    session.connect()
    session.post('Profiler.enable')
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }
  let total = 0
  session.post('Profiler.takePreciseCoverage', (cause, taken) => {
    if (cause !== null) throw new Error(`no block was counted: ${cause.message}`)
    for (const { functions } of taken.result.filter(({ url }) => isRead(url)))
      for (const { ranges } of functions) for (const { count } of ranges) total += count
  })
  return total
}

const isRead = (url: string): boolean =>
  /\/src\/|\/node_modules\/(?:yaml|smol-toml|zod)\/|hostile-text/.test(url) && !url.startsWith('node:')

type Cost = (subject: { readonly length: number }, args: readonly unknown[], result: unknown) => number
const whole: Cost = subject => subject.length
const made: Cost = (_, __, result) => (result as { readonly length: number }).length
const forwards: Cost = (subject, [, from], found) =>
  (typeof found === 'number' && found >= 0 ? found : subject.length) - (typeof from === 'number' ? from : 0)
const backwards: Cost = (subject, [, from], found) =>
  (typeof from === 'number' ? Math.min(from, subject.length) : subject.length) - (found as number)
const given: Cost = (_, args) => lengthOf(args[0])

const lengthOf = (value: unknown): number =>
  typeof value === 'object' || typeof value === 'string' ? ((value as { length?: number } | null)?.length ?? 1) : 1

/**
 * The built-in functions whose time depends on a length. `exec` counts expressions, because the other functions call
 * it.
 */
const COSTS: readonly (readonly [object, Readonly<Record<string | symbol, Cost>>])[] = [
  [
    String.prototype,
    {
      indexOf: forwards,
      includes: whole,
      lastIndexOf: backwards,
      startsWith: given,
      endsWith: given,
      split: whole,
      replaceAll: whole,
      trim: whole,
      trimStart: whole,
      trimEnd: whole,
      toLowerCase: whole,
      toUpperCase: whole,
      normalize: whole,
      localeCompare: whole,
      isWellFormed: whole,
      toWellFormed: whole,
      repeat: made,
      padStart: made,
      padEnd: made,
      [Symbol.iterator]: whole,
    },
  ],
  [
    Array.prototype,
    {
      indexOf: forwards,
      includes: whole,
      lastIndexOf: backwards,
      join: whole,
      slice: made,
      splice: whole,
      shift: whole,
      unshift: whole,
      concat: made,
      reverse: whole,
      sort: whole,
      fill: whole,
      flat: whole,
      [Symbol.iterator]: whole,
    },
  ],
  [
    Buffer.prototype,
    { indexOf: forwards, includes: whole, lastIndexOf: backwards, toString: made, equals: whole, compare: whole },
  ],
  [Object.getPrototypeOf(Uint8Array.prototype) as object, { slice: made, set: given, [Symbol.iterator]: whole }],
  [Buffer, { from: made, concat: made, byteLength: given }],
  [TextDecoder.prototype, { decode: given }],
  [JSON, { parse: given, stringify: (_, __, result) => lengthOf(result) }],
  [Object, { keys: made, values: made, entries: made }],
  [Array, { from: made }],
]

type Builtin = (this: unknown, ...args: unknown[]) => unknown

/** Replaces each built-in function with a counting one. Returns the count and a function that restores them. */
function countBuiltins(): [steps: () => number, restore: () => void] {
  let steps = 0
  let isCounting = true
  const undo: (() => void)[] = []
  const replace = (owner: object, name: string | symbol, around: (builtin: Builtin) => Builtin): void => {
    const before = Object.getOwnPropertyDescriptor(owner, name)
    if (before === undefined) return // Only later Node versions have this function.
    Object.defineProperty(owner, name, { ...before, value: around(before.value as Builtin) })
    undo.push(() => Object.defineProperty(owner, name, before))
  }
  /** Adds a cost. The counter's own work does not count. */
  const add = (cost: () => number): void => {
    if (!isCounting) return
    isCounting = false
    steps += Math.max(1, cost())
    isCounting = true
  }
  for (const [owner, costs] of COSTS)
    for (const name of Reflect.ownKeys(costs)) {
      const cost = costs[name as string] as Cost
      replace(owner, name, builtin => {
        return function (this: unknown, ...args) {
          const length = lengthOf(this)
          const result = Reflect.apply(builtin, this, args)
          add(() => cost({ length }, args, result))
          return result
        }
      })
    }
  replace(RegExp.prototype, 'exec', exec => {
    return function (this: unknown, ...args) {
      const pattern = this as RegExp
      const text = String(args[0])
      const from = pattern.global || pattern.sticky ? pattern.lastIndex : 0
      const match = Reflect.apply(exec, pattern, [text]) as RegExpExecArray | null
      add(() => backtracksOf(pattern, text, from, exec) + (match === null ? 0 : match.index - from + match[0].length))
      return match
    }
  })
  return [() => steps, () => undo.toReversed().forEach(step => step())]
}
