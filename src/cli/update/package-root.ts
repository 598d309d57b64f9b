import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { refusal } from '../../api/contract/problems.ts'

export const PACKAGE = 'oneshot-executor'

/** The folder this program was installed in. */
export function packageRoot(from: string = fileURLToPath(import.meta.url)): string {
  for (let folder = path.dirname(from); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (nameIn(path.join(folder, 'package.json')) === PACKAGE) return folder
  }
  throw refusal(
    'update-impossible',
    `${from} is in no folder of the package ${PACKAGE}`,
    `npm install -g ${PACKAGE}@latest`,
  )
}

function nameIn(file: string): unknown {
  try {
    return (JSON.parse(fs.readFileSync(file, 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined // No package here; the search goes on above.
  }
}
