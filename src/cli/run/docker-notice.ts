import fs from 'node:fs'
import path from 'node:path'
import type { RunRequest } from '../../api/contract/requests.ts'
import { readRegular } from '../../world/os/files.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'
import type { Surroundings } from '../surroundings.ts'

const BUILD_FILES = ['Dockerfile', 'Containerfile', 'compose.yaml', 'compose.yml', 'docker-compose.yml']
/** Bytes; nobody writes a longer one by hand. */
const LONGEST = 1_048_576

/** Says, before a project has its first `.agent` folder, that a docker build would copy the logs in it into the image. */
export function sayDocker({ cwd, projectFiles }: RunRequest, line: Line, { screen }: Surroundings): void {
  if (projectFiles === false || screen.isQuiet || line.has(OPTIONS.json)) return
  if (fs.existsSync(path.join(cwd, '.agent')) || !isInDockerContext(cwd)) return
  screen.err.say(
    `${screen.err.paint.yellow('note:')} docker build would copy .agent (logs and prompts) into the image: echo .agent >> .dockerignore`,
  )
}

/** Whether images are built here, and `.dockerignore` does not leave `.agent` out. */
export function isInDockerContext(cwd: string): boolean {
  if (!BUILD_FILES.some(name => fs.existsSync(path.join(cwd, name)))) return false
  return !['.dockerignore', 'Dockerfile.dockerignore'].some(name => leavesOut(path.join(cwd, name)))
}

function leavesOut(file: string): boolean {
  try {
    const lines = readRegular(file, LONGEST).content.toString().split('\n')
    return lines.some(text => /^\/?(\*\*\/)?(\.agent|\.\*|\*\*?)(\/(\*\*?)?)?$/.test(text.trim()))
  } catch {
    return false // It is not there, or nothing that docker could read.
  }
}
