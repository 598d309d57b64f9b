import fs from 'node:fs'
import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import { object, string } from '../../lib/codec.ts'
import { Trouble } from '../../lib/errors.ts'
import { VERSION } from '../../lib/version.ts'
import { readJsonCache, readJsonFile } from '../../os/files/json-file.ts'
import type { UpdateStatus } from './update-git-clone.ts'
import { runStep, type StepPlace } from './run-step.ts'

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
export function packageRoot(from: string = import.meta.filename): string {
  for (let folder = path.dirname(from); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (readPackageName(path.join(folder, 'package.json')) === PACKAGE_NAME) return folder
  }
  throw refusal(
    'update-impossible',
    `${from} is in no folder of the package ${PACKAGE_NAME}`,
    `npm install -g ${PACKAGE_NAME}@latest`,
  )
}

/** Returns undefined if there is no package here: the search continues above. */
function readPackageName(file: string): string | undefined {
  return readJsonCache(file, object({ name: string }), MAX_MANIFEST_SIZE)?.name
}

/** Returns the version of an installed package. */
export function readPackageVersion(root: string): string {
  const manifest = readJsonFile(path.join(root, 'package.json'), object({ version: string }), MAX_MANIFEST_SIZE)
  if (manifest === undefined) throw new Trouble(`reading the version of ${root}`, 'there is no package.json')
  return manifest.version
}

const MAX_MANIFEST_SIZE = 1_048_576
