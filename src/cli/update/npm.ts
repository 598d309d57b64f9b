import fs from 'node:fs'
import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import { VERSION } from '../../lib/version.ts'
import type { News } from './clone.ts'
import { PACKAGE } from './package-root.ts'
import { perform } from './perform.ts'

export async function checkNpm(): Promise<News> {
  const newest = await perform('npm', ['view', PACKAGE, 'version'], '/')
  const isNew = newest !== VERSION
  return { isNew, text: isNew ? `${newest} is available` : 'up to date' }
}

/** Only a global installation is ours to update; within a project it is the project's choice. */
export async function updateNpm(root: string, say: (text: string) => void): Promise<string | undefined> {
  const globalFolder = await perform('npm', ['root', '-g'], '/')
  if (real(path.dirname(root)) !== real(globalFolder)) {
    throw refusal(
      'update-impossible',
      `${root} is not a global npm installation`,
      `update it where it is: npm update ${PACKAGE}`,
    )
  }
  say('installing …')
  await perform('npm', ['install', '-g', `${PACKAGE}@latest`, '--no-audit', '--no-fund', '--loglevel=error'], '/')
  return `${PACKAGE}@latest`
}

function real(folder: string): string {
  try {
    return fs.realpathSync(folder)
  } catch {
    return folder // Not there, so equal to nothing but itself.
  }
}
