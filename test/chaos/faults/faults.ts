import { killKeeper, killSupervisor, killSupervisorAndKeeper, killTwice, suspend } from './supervisor-faults.ts'
import type { Fault } from './fault.ts'
import { killRecorder, killTerminal, killTmux, killViewer } from './view-faults.ts'
import { killAgent, killAgentAndShim, killShim, killTool } from './agent-faults.ts'
import { fillDisk, jumpClock } from './environment-faults.ts'

/** A fault, its relative frequency, and the condition that counts as its end. */
export interface FaultKind {
  readonly name: string
  readonly weight: number
  readonly strike: Fault
  readonly until: string
}

export const FAULTS: readonly FaultKind[] = [
  { name: 'agent', weight: 30, strike: killAgent, until: 'its next life begins' },
  { name: 'tool of an agent', weight: 10, strike: killTool, until: '' },
  { name: 'shim', weight: 8, strike: killShim, until: '' },
  { name: 'agent and shim', weight: 3, strike: killAgentAndShim, until: 'its next life begins' },
  { name: 'supervisor', weight: 10, strike: killSupervisor, until: 'another answers' },
  { name: 'supervisor, and the next', weight: 3, strike: killTwice, until: 'another answers' },
  { name: 'keeper', weight: 6, strike: killKeeper, until: 'there is another' },
  { name: 'supervisor and keeper', weight: 3, strike: killSupervisorAndKeeper, until: 'another answers' },
  { name: 'tmux server', weight: 4, strike: killTmux, until: 'every session has its pane' },
  { name: 'terminal', weight: 2, strike: killTerminal, until: 'its next life begins' },
  { name: 'recorder', weight: 5, strike: killRecorder, until: 'there is another' },
  { name: 'viewer', weight: 6, strike: killViewer, until: '' },
  { name: 'supervisor suspended', weight: 1, strike: suspend, until: 'one answers' },
  { name: 'disk full', weight: 1, strike: fillDisk, until: 'something is accepted, with room again' },
  { name: 'clock set', weight: 2, strike: jumpClock, until: '' },
]
