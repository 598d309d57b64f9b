import type { Autonomy } from '../../../core/session/session.ts'
import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { realPath } from '../shared/files.ts'

const AUTONOMY_ARGUMENTS: Readonly<Record<Autonomy, readonly string[]>> = {
  full: ['--dangerously-bypass-approvals-and-sandbox'],
  edits: ['-s', 'workspace-write'],
  // `exec` never asks: the sandbox refuses every action that would need a question.
  ask: ['-s', 'read-only'],
}

export function planLaunch(request: LaunchRequest): LaunchPlan {
  const [program = 'codex', ...own] = request.argv
  const { program: binary, env } = findBinary(program)
  return {
    // The caller's arguments come first: `-i FILE…` takes every following word up to the next option, and ours begin
    // with one.
    argv: [
      binary,
      'exec',
      ...own,
      '--json',
      ...AUTONOMY_ARGUMENTS[request.autonomy],
      '--skip-git-repo-check',
      ...requestArguments(request),
    ],
    env,
    stdin: 'text',
  }
}

/** codex 0.166.0: `resume` takes no sandbox option, so it follows the options. */
function requestArguments({ model, effort, resume }: LaunchRequest): string[] {
  return [
    ...(model === null ? [] : ['-m', model]),
    ...(effort === null ? [] : ['-c', `model_reasoning_effort=${JSON.stringify(effort)}`]),
    ...(resume === null ? [] : ['resume', resume]),
    '-',
  ]
}

interface Binary {
  readonly program: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the program itself when `program` is the wrapper of the npm package, else `program`. codex 0.166.0: after a
 * kill of the wrapper, the real program continues to work and holds the thread's lock.
 */
export function findBinary(program: string, platform = `${process.platform}-${process.arch}`): Binary {
  const wrapper = realPath(program)
  const target = TARGETS[platform]
  if (!wrapper.endsWith('/@openai/codex/bin/codex.js') || target === undefined) return { program, env: {} }
  const root = path.dirname(path.dirname(wrapper))
  const binary = path.join(platformPackage(wrapper, platform) ?? root, 'vendor', target, 'bin/codex')
  if (!fs.existsSync(binary)) return { program, env: {} }
  // The wrapper sets these variables too; with them, hints about updates name the right command.
  return { program: binary, env: { CODEX_MANAGED_PACKAGE_ROOT: root, [managerVariable(wrapper)]: '1' } }
}

const TARGETS: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/** Resolves the package as Node does from the wrapper, so that it finds a nested, hoisted or linked one. */
function platformPackage(wrapper: string, platform: string): string | undefined {
  try {
    return path.dirname(createRequire(wrapper).resolve(`@openai/codex-${platform}/package.json`))
  } catch {
    return undefined // Older packages contain the program themselves.
  }
}

function managerVariable(wrapper: string): string {
  if (wrapper.includes('/.bun/install/global/')) return 'CODEX_MANAGED_BY_BUN'
  return wrapper.includes('/.pnpm/') ? 'CODEX_MANAGED_BY_PNPM' : 'CODEX_MANAGED_BY_NPM'
}
