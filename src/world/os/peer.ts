import { spawn } from 'node:child_process'
import fs from 'node:fs'
import type { Socket } from 'node:net'
import type { Ancestor } from '../../core/origin.ts'
import type { Instant } from '../../lib/time.ts'
import { groupOf, isOpen } from './control-group.ts'
import { relations } from './processes.ts'

/** An attempt as its control group names it. */
const IN_GROUP = /\/oneshot-([a-z0-9]{10}\.\d+)(?:\/|$)/
/** The kernel's word for who is at the other end; Node cannot ask for it. Linux: SOL_SOCKET, SO_PEERCRED; macOS: SOL_LOCAL, LOCAL_PEERPID. */
const OPTION = process.platform === 'darwin' ? [0, 2] : [1, 17]
const PERL = ['-e', `print unpack "i", getsockopt STDIN, ${OPTION.join(', ')}`]
const PYTHON = [
  '-ISc',
  `import socket,struct;print(struct.unpack("i",socket.socket(fileno=0).getsockopt(${OPTION.join(',')},4))[0])`,
]
/** The system's own first: a PATH may be short, or lead to a program of others. */
const ASKERS: readonly (readonly [string, string[]])[] = [
  ['/usr/bin/perl', PERL],
  ['/usr/bin/python3', PYTHON],
  ['perl', PERL],
  ['python3', PYTHON],
]
const PATIENCE = 2_000
/** Deeper than any shell in a terminal in a multiplexer. */
const MOST_ANCESTORS = 256

/**
 * Whoever is at the other end of a socket, and all processes above it but the first of the machine; undefined when that cannot
 * be found out. `since`: when the connection was made. A process that is younger has got the pid of another.
 */
export async function peerOf(socket: Socket, since: Instant): Promise<readonly Ancestor[] | undefined> {
  const pid = await pidBehind(socket)
  if (pid === undefined) return undefined
  const [chain = []] = await ancestries([pid])
  const [peer] = chain
  return pid === 0 || (peer !== undefined && peer.bornAt <= since + CLOCK_TICK) ? chain : undefined
}

/** The kernel counts ages in hundredths of a second. */
const CLOCK_TICK = 20

/** Each process and those above it, without the first of the machine. */
export async function ancestries(pids: readonly number[]): Promise<readonly (readonly Ancestor[])[]> {
  const look = await relations()
  return pids.map(pid => {
    const chain: Ancestor[] = []
    for (let current = pid; current > 1 && chain.length < MOST_ANCESTORS; ) {
      const relation = look(current)
      if (relation === undefined) break // It has just ended.
      const isReaper = textOf(current, 'comm').trim() === 'systemd'
      const path = groupOf(current)
      const group = path === null ? null : { path, isOpen: isOpen(path) }
      const groupMarker = IN_GROUP.exec(path ?? '')?.[1] ?? null
      chain.push({ ...relation, pid: current, group, groupMarker, isReaper })
      current = relation.parent
    }
    return chain
  })
}

async function pidBehind(socket: Socket): Promise<number | undefined> {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } }
  const descriptor = handle?.fd
  if (descriptor === undefined || descriptor < 0) return undefined
  for (const [program, args] of ASKERS) {
    const pid = await ask(program, args, descriptor)
    if (pid !== undefined) return pid
  }
  return undefined
}

function ask(program: string, args: readonly string[], descriptor: number): Promise<number | undefined> {
  return new Promise(resolve => {
    const asker = spawn(program, args, { stdio: [descriptor, 'pipe', 'ignore'], timeout: PATIENCE })
    let told = ''
    asker.stdout?.on('data', (data: Buffer) => (told += data.toString()))
    asker.on('error', () => resolve(undefined)) // It is not installed.
    asker.on('close', () => resolve(/^\d+\s*$/.test(told) ? Number(told) : undefined))
  })
}

function textOf(pid: number, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return '' // It has ended, or is somebody else's.
  }
}
