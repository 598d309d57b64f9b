import fs from 'node:fs'
import path from 'node:path'
import type { TestHome } from './test-home.ts'

/** Writes the config file of the home's user. */
export function userConfig(testHome: TestHome, toml: string): string {
  const file = path.join(testHome.env['XDG_CONFIG_HOME'] ?? '', 'oneshot', 'config.toml')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, toml, { mode: 0o600 })
  return file
}
