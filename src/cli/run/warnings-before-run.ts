import fs from 'node:fs'
import path from 'node:path'
import { locateFiles } from '../../api/config/config-files.ts'
import type { Config } from '../../api/config/load-config.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import { openHome } from '../../state/home.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Paint } from '../terminal/colors.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { readRegularFile } from '../../os/files/file-io.ts'
import { isExportableVariable } from '../../lib/text/shell-words.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'

/** Explains full autonomy once to a user who has not chosen it. */
export function printAutonomyNoticeOnce(
  { agent, autonomy, cwd }: RunRequest,
  args: ParsedArgs,
  config: Config,
  { env, home, screen }: CommandContext,
): void {
  const isChosen = args.has(OPTIONS.autonomy) || config.autonomy.origin !== 'default'
  const isHarmless = agent === 'command' || agent === 'demo' || autonomy !== 'full'
  const isSilent = screen.isQuiet || args.has(OPTIONS.json)
  const marker = path.join(home.root, 'autonomy-told')
  if (isChosen || isHarmless || isSilent || fs.existsSync(marker)) return
  const { user } = locateFiles(env, cwd)
  for (const text of autonomyNotice(agent, user, screen.err.paint)) screen.err.printLine(text)
  if (screen.err.closed.aborted) return
  try {
    openHome(home)
    fs.writeFileSync(marker, '', { mode: 0o600 })
  } catch {
    // If the folder is not writable, another check reports it; the notice only appears once more.
  }
}

function autonomyNotice(agent: string, file: string, paint: Paint): string[] {
  return [
    `${paint.yellow('note:')} ${agent} works with full autonomy: without asking, it may change any file and run any command.`,
    '      For less: --autonomy edits (it may change files) or --autonomy ask (it may only look);',
    `      for good: autonomy = "edits" in ${file}. This is said only once.`,
  ]
}

const BUILD_FILES = ['Dockerfile', 'Containerfile', 'compose.yaml', 'compose.yml', 'docker-compose.yml']
/** In bytes. Nobody writes a longer file by hand. */
const MAX_DOCKERIGNORE_BYTES = 1_048_576

/** Warns, before a project has its first `.agent` folder, that a docker build would copy its logs into the image. */
export function printDockerNotice(
  { cwd, supervision }: RunRequest,
  args: ParsedArgs,
  { screen }: CommandContext,
): void {
  if (supervision.projectFiles === false || screen.isQuiet || args.has(OPTIONS.json)) return
  if (fs.existsSync(path.join(cwd, '.agent')) || !isInDockerContext(cwd)) return
  screen.err.printLine(
    `${screen.err.paint.yellow('note:')} docker build would copy .agent (logs and prompts) into the image: echo .agent >> .dockerignore`,
  )
}

/** Returns true if users build images here, and `.dockerignore` does not exclude `.agent`. */
export function isInDockerContext(cwd: string): boolean {
  if (!BUILD_FILES.some(name => fs.existsSync(path.join(cwd, name)))) return false
  return !['.dockerignore', 'Dockerfile.dockerignore'].some(name => excludesAgentFolder(path.join(cwd, name)))
}

function excludesAgentFolder(file: string): boolean {
  try {
    const lines = readRegularFile(file, MAX_DOCKERIGNORE_BYTES).content.toString().split('\n')
    return lines.some(text => /^\/?(\*\*\/)?(\.agent|\.\*|\*\*?)(\/(\*\*?)?)?$/.test(text.trim()))
  } catch {
    return false // The file is missing, or docker could not read it either.
  }
}

/** Names, once each, the variables that a shell cannot export: the program does not get them. */
export function printDroppedVariables(env: Readonly<Record<string, string>>, { home, screen }: CommandContext): void {
  const names = Object.keys(env).filter(name => !isExportableVariable(name))
  if (names.length === 0 || screen.isQuiet) return
  const marker = path.join(home.root, 'variables-told')
  try {
    openHome(home)
    const known = fs.existsSync(marker) ? fs.readFileSync(marker, 'utf8').split('\n') : []
    const unreported = names.map(toOneLine).filter(name => !known.includes(name))
    if (unreported.length === 0) return
    const list = unreported.slice(0, 5).join(', ') + (unreported.length > 5 ? ` and ${unreported.length - 5} more` : '')
    screen.err.printLine(
      `${screen.err.paint.yellow('note:')} the program does not get ${list}: a shell cannot export such names.`,
    )
    fs.appendFileSync(marker, `${unreported.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // If the folder is not writable, another check reports it; the note only appears once more.
  }
}
