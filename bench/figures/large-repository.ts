import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { ProductClone } from '../product/clone.ts'

const IN_MODULE = 20
const IN_PART = 1_000

/** Creates a repository with this many committed files, packed like a clone, and a quarter as many ignored files. */
export function openLargeRepository({ root, env }: ProductClone, size: number): string {
  const repository = path.join(root, `repository-${size}`)
  fs.mkdirSync(repository)
  const git = (...args: string[]): void => {
    // gc.auto=0 keeps git from packing in the background.
    const settings = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0']
    execFileSync('git', [...settings, ...args], { cwd: repository, env, stdio: 'ignore' })
  }
  fs.writeFileSync(path.join(repository, '.gitignore'), 'ignored/\n')
  for (let n = 0; n < size; n++) write(repository, sourceFile(n), `export const number${n} = ${n}\n`.repeat(20))
  for (let n = 0; n < size / 4; n++) write(repository, `ignored/part${Math.floor(n / 500)}/${n}.o`, `${n}`)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  git('gc', '--quiet')
  return repository
}

function sourceFile(n: number): string {
  const inPart = n % IN_PART
  return `src/part${Math.floor(n / IN_PART)}/module${Math.floor(inPart / IN_MODULE)}/${inPart % IN_MODULE}.ts`
}

function write(repository: string, file: string, content: string): void {
  const whole = path.join(repository, file)
  fs.mkdirSync(path.dirname(whole), { recursive: true })
  fs.writeFileSync(whole, content)
}
