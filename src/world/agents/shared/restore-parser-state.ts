import { InvalidData, type Parser } from '../../../lib/codec.ts'
import type { ParsedLine, ParserState } from '../../../ports/agent.ts'

/**
 * Returns the reader of an adapter's parser state, from the initial state and a parser for each field. A missing field,
 * and one that another version wrote in another form, has its initial value: the state only summarises output that the
 * agent has written, and the rest of the output must stay readable.
 */
export function stateReader<S extends ParserState>(
  initial: S,
  parsers: { readonly [K in keyof S]: Parser<S[K]> },
): (memory: ParserState) => S {
  const names: readonly (keyof S & string)[] = Object.keys(parsers)
  return memory => {
    const state: { -readonly [K in keyof S]: S[K] } = { ...initial }
    for (const name of names) {
      if (memory[name] !== undefined) state[name] = parseOr(initial[name], parsers[name], memory[name])
    }
    return state
  }
}

function parseOr<T>(otherwise: T, parse: Parser<T>, value: unknown): T {
  try {
    return parse(value)
  } catch (cause) {
    if (cause instanceof InvalidData) return otherwise
    throw cause
  }
}

/**
 * Returns a line reader that gets the adapter's own state. It restores each stored state once, and none that the reader
 * itself has returned.
 */
export function withState<S extends ParserState, C extends unknown[]>(
  restore: (memory: ParserState) => S,
  read: (line: string, state: S, ...context: C) => ParsedLine<S>,
): (line: string, memory: ParserState, ...context: C) => ParsedLine {
  const states = new WeakMap<ParserState, S>()
  return (line, memory, ...context) => {
    let state = states.get(memory)
    if (state === undefined) states.set(memory, (state = restore(memory)))
    const parsed = read(line, state, ...context)
    if (parsed.memory !== undefined) states.set(parsed.memory, parsed.memory)
    return parsed
  }
}
