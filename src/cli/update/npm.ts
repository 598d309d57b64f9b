import fs from 'node:fs'
import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import { VERSION } from '../../lib/version.ts'
import type { UpdateStatus } from './clone.ts'
import { runStep, type StepPlace } from './run-step.ts'
import { fileURLToPath } from 'node:url'

export async function checkNpm(env: NodeJS.ProcessEnv): Promise<UpdateStatus> {
  const newest = await runStep('npm', ['view', PACKAGE_NAME, 'version'], { cwd: '/', env })
  const isNew = newest !== VERSION
  return { isNew, text: isNew ? `${newest} is available` : 'up to date' }
}

/** Updates only a global installation; within a project the version is the project's choice. */
export async function updateNpm(
  { cwd: root, env }: StepPlace,
  print: (text: string) => void,
): Promise<string | undefined> {
  const globalFolder = await runStep('npm', ['root', '-g'], { cwd: '/', env })
  if (resolvePath(path.dirname(root)) !== resolvePath(globalFolder)) {
    throw refusal(
      'update-impossible',
      `${root} is not a global npm installation`,
      `update it where it is: npm update ${PACKAGE_NAME}`,
    )
  }
  print('installing …')
  await runStep('npm', ['install', '-g', `${PACKAGE_NAME}@latest`, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: '/',
    env,
  })
  return `${PACKAGE_NAME}@latest`
}

function resolvePath(folder: string): string {
  try {
    return fs.realpathSync(folder)
  } catch {
    return folder // A missing folder equals only itself.
  }
}

const PACKAGE_NAME = 'oneshot-executor'

/** Returns the installation folder of this program. */
export function packageRoot(from: string = fileURLToPath(import.meta.url)): string {
  for (let folder = path.dirname(from); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (readPackageName(path.join(folder, 'package.json')) === PACKAGE_NAME) return folder
  }
  throw refusal(
    'update-impossible',
    `${from} is in no folder of the package ${PACKAGE_NAME}`,
    `npm install -g ${PACKAGE_NAME}@latest`,
  )
}

function readPackageName(file: string): unknown {
  try {
    return (JSON.parse(fs.readFileSync(file, 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined // There is no package here; the search continues above.
  }
}
