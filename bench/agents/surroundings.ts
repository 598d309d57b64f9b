import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { writeModelSettings } from '../../test/agents/kit/model-settings.ts'
import { binFolderOf, type Kind } from '../../test/agents/kit/programs.ts'

/**
 * All that agent programs see, in a home of their own: nothing of whoever measures them, no updates, no telemetry, no
 * download. The model they speak with is at `url`.
 */
export function surroundings(home: string, url: string, kinds: readonly Kind[]): Record<string, string> {
  const at = (...names: string[]): string => path.join(home, ...names)
  fs.mkdirSync(at('tmp'), { recursive: true })
  const settings = { codex: at('.codex'), opencode: at('.config', 'opencode', 'opencode.json'), pi: at('.pi', 'agent') }
  writeModelSettings(settings, url)
  fs.writeFileSync(
    at('.claude.json'),
    JSON.stringify({ hasCompletedOnboarding: true, customApiKeyResponses: APPROVED }),
  )
  const folders = [...kinds.map(binFolderOf), path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin']
  return { ...QUIET, HOME: home, TMPDIR: at('tmp'), PATH: folders.join(':'), ANTHROPIC_BASE_URL: url }
}

/** Agents look at the repository they are in before they begin. */
export function makeRepository(folder: string, env: Readonly<Record<string, string>>): void {
  const person = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.com']
  const git = (...args: string[]): Buffer => execFileSync('git', [...person, ...args], { cwd: folder, env })
  git('init', '--quiet', '--initial-branch=main')
  fs.writeFileSync(path.join(folder, 'README.md'), '# A project\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Begin')
}

const KEY = 'sk-ant-dummy'
const APPROVED = { approved: [KEY], rejected: [] }

const QUIET: Readonly<Record<string, string>> = {
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  NO_COLOR: '1',
  GIT_CONFIG_NOSYSTEM: '1',
  ANTHROPIC_API_KEY: KEY,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  MOCK_KEY: 'dummy',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_SHARE: '1',
  PI_OFFLINE: '1',
  PI_TELEMETRY: '0',
  PI_SKIP_VERSION_CHECK: '1',
  // claude 2.1 refuses to work unasked as root without it.
  ...(process.getuid?.() === 0 && { IS_SANDBOX: '1' }),
}
