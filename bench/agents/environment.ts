import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { writeModelSettings } from '../../test/agents/kit/model-settings.ts'
import { binFolderOf, type Kind } from '../../test/agents/kit/programs.ts'
import { KEY, AGENT_ENVIRONMENT } from '../../test/agents/kit/agent-environment.ts'

/**
 * Returns the whole environment of the agent programs, with a separate home: nothing of the user, no updates, no
 * telemetry, no downloads. Their model is at `url`.
 */
export function agentEnvironment(home: string, url: string, kinds: readonly Kind[]): Record<string, string> {
  const at = (...names: string[]): string => path.join(home, ...names)
  fs.mkdirSync(at('tmp'), { recursive: true })
  const settings = { codex: at('.codex'), opencode: at('.config', 'opencode', 'opencode.json'), pi: at('.pi', 'agent') }
  writeModelSettings(settings, url)
  fs.writeFileSync(
    at('.claude.json'),
    JSON.stringify({ hasCompletedOnboarding: true, customApiKeyResponses: APPROVED }),
  )
  const folders = [...kinds.map(binFolderOf), path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin']
  return {
    ...AGENT_ENVIRONMENT,
    NO_COLOR: '1',
    HOME: home,
    TMPDIR: at('tmp'),
    PATH: folders.join(':'),
    ANTHROPIC_BASE_URL: url,
  }
}

/** Creates a repository: agents inspect the repository they are in before they start. */
export function makeRepository(folder: string, env: Readonly<Record<string, string>>): void {
  const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: folder, env })
  git('init', '--quiet', '--initial-branch=main')
  fs.writeFileSync(path.join(folder, 'README.md'), '# A project\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Begin')
}

const APPROVED = { approved: [KEY], rejected: [] }
