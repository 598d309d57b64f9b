import os from 'node:os'
import path from 'node:path'
import { jsonInFile, realPath } from '../disk.ts'
import { text } from '../json.ts'

/** Where pi is started, and with what around it. It asks the kernel where it is, and is told without symbolic links. */
export interface PiPlace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The file we have pi keep a thread in: among its own, so that `pi --resume` shows it too. */
export function threadFile(place: PiPlace, tag: string): string {
  return path.join(threadFolder(place), `${tag}.jsonl`)
}

/** Where pi 0.73 and 0.87 keep the threads of a working directory: as told by the environment or settings, or as usual. */
export function threadFolder(place: PiPlace): string {
  const cwd = realPath(place.cwd)
  const told = place.env['PI_CODING_AGENT_SESSION_DIR'] || toldBySettings(place, cwd)
  return told === '' ? usualFolder(place) : path.resolve(cwd, fromHome(told, place))
}

export function usualFolder(place: PiPlace): string {
  const name = realPath(place.cwd)
    .replace(/^\//, '')
    .replace(/[/\\:]/g, '-')
  return path.join(agentFolder(place), 'sessions', `--${name}--`)
}

/** Settings of the project go before those of the user. */
function toldBySettings(place: PiPlace, cwd: string): string {
  const files = [path.join(cwd, '.pi', 'settings.json'), path.join(agentFolder(place), 'settings.json')]
  return files.map(sessionDirIn).find(told => told !== '') ?? ''
}

function sessionDirIn(file: string): string {
  return text(jsonInFile(file)?.['sessionDir'])
}

function agentFolder(place: PiPlace): string {
  const told = place.env['PI_CODING_AGENT_DIR'] ?? ''
  return told === '' ? path.join(homeOf(place), '.pi', 'agent') : path.resolve(place.cwd, fromHome(told, place))
}

function fromHome(folder: string, place: PiPlace): string {
  return folder === '~' || folder.startsWith('~/') ? path.join(homeOf(place), folder.slice(1)) : folder
}

function homeOf({ env }: PiPlace): string {
  return env['HOME'] || os.homedir()
}
