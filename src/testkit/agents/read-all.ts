import type { Memory, Observation, Reading } from '../../ports/agent.ts'

export type Read = (line: string, memory: Memory) => Reading

export interface AllRead {
  readonly observations: readonly Observation[]
  readonly transcript: string
  readonly memory: Memory
}

/** Reads lines of output, or the events in them, one after the other. What is remembered is stored between two lines. */
export function readAll(read: Read, lines: readonly (string | object)[]): AllRead {
  const observations: Observation[] = []
  let transcript = ''
  let memory: Memory = {}
  for (const line of lines) {
    if (line === '') continue
    const reading = read(typeof line === 'string' ? line : JSON.stringify(line), memory)
    observations.push(...reading.observations)
    transcript += reading.text ?? ''
    memory = JSON.parse(JSON.stringify(reading.memory ?? memory)) as Memory
  }
  return { observations, transcript, memory }
}
