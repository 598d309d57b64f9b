import { spawn } from 'node:child_process'
import fs from 'node:fs'
import type { Socket } from 'node:net'
import type { Ancestor } from '../../core/authorization/caller-origin.ts'
import type { Instant } from '../../lib/time.ts'
import { readCgroup, isCgroupWritable } from '../cgroup.ts'
import { createRelationReader } from './processes.ts'

/** Matches the control group of an attempt. */
const ATTEMPT_CGROUP = /\/oneshot-([a-z0-9]{10}\.\d+)(?:\/|$)/
/**
 * Socket options for the pid of the peer, which Node cannot read. Linux: SOL_SOCKET, SO_PEERCRED; macOS: SOL_LOCAL,
 * LOCAL_PEERPID.
 */
const PEER_CREDENTIALS = process.platform === 'darwin' ? [0, 2] : [1, 17]
const PERL_ARGUMENTS = ['-e', `print unpack "i", getsockopt STDIN, ${PEER_CREDENTIALS.join(', ')}`]
const PYTHON_ARGUMENTS = [
  '-ISc',
  `import socket,struct;print(struct.unpack("i",socket.socket(fileno=0).getsockopt(${PEER_CREDENTIALS.join(',')},4))[0])`,
]
/** The system's interpreters come first: PATH may be short or name another program. */
const PEER_PID_PROGRAMS: readonly (readonly [string, string[]])[] = [
  ['/usr/bin/perl', PERL_ARGUMENTS],
  ['/usr/bin/python3', PYTHON_ARGUMENTS],
  ['perl', PERL_ARGUMENTS],
  ['python3', PYTHON_ARGUMENTS],
]
const PROGRAM_TIMEOUT = 2_000
/** Deeper than any shell in a terminal in a multiplexer. */
const MAX_ANCESTORS = 256

/**
 * Returns the process at the other end of a socket and its ancestors without pid 1; undefined if they cannot be found.
 * `since`: the time of the connection. A younger process reuses the pid of the one that connected.
 */
export async function findSocketPeer(socket: Socket, since: Instant): Promise<readonly Ancestor[] | undefined> {
  const pid = await readPeerPid(socket)
  if (pid === undefined) return undefined
  const [ancestors = []] = await readAncestors([pid])
  const [peer] = ancestors
  return pid === 0 || (peer !== undefined && peer.bornAt <= since + CLOCK_TICK) ? ancestors : undefined
}

/** Milliseconds: the kernel counts start times in hundredths of a second. */
const CLOCK_TICK = 20

/** Returns each process with its ancestors, without pid 1. */
export async function readAncestors(pids: readonly number[]): Promise<readonly (readonly Ancestor[])[]> {
  const findRelation = await createRelationReader()
  return pids.map(pid => {
    const ancestors: Ancestor[] = []
    for (let current = pid; current > 1 && ancestors.length < MAX_ANCESTORS; ) {
      const relation = findRelation(current)
      if (relation === undefined) break // The process has just ended.
      const isReaper = readProcFile(current, 'comm').trim() === 'systemd'
      const path = readCgroup(current)
      const group = path === null ? null : { path, isOpen: isCgroupWritable(path) }
      const groupMarker = ATTEMPT_CGROUP.exec(path ?? '')?.[1] ?? null
      ancestors.push({ ...relation, pid: current, group, groupMarker, isReaper })
      current = relation.parent
    }
    return ancestors
  })
}

async function readPeerPid(socket: Socket): Promise<number | undefined> {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } }
  const descriptor = handle?.fd
  if (descriptor === undefined || descriptor < 0) return undefined
  for (const [program, args] of PEER_PID_PROGRAMS) {
    const pid = await runPeerPidProgram(program, args, descriptor)
    if (pid !== undefined) return pid
  }
  return undefined
}

function runPeerPidProgram(program: string, args: readonly string[], descriptor: number): Promise<number | undefined> {
  return new Promise(resolve => {
    const child = spawn(program, args, { stdio: [descriptor, 'pipe', 'ignore'], timeout: PROGRAM_TIMEOUT })
    let output = ''
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()))
    child.on('error', () => resolve(undefined)) // The interpreter is not installed.
    child.on('close', () => resolve(/^\d+\s*$/.test(output) ? Number(output) : undefined))
  })
}

function readProcFile(pid: number, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return '' // The process has ended, or belongs to another user.
  }
}
