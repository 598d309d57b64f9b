import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { replaceFile } from '../../os/files/file-io.ts'
import { type BootManager, type InstalledBoot, createRunCommand, describeFailure, runOrThrow } from './boot-manager.ts'
import { type BootCommand, NO_RESUME, bootArgv, parseBootArgv } from './boot-command.ts'

/** Manages an agent of launchd, which loads it when its user logs in. */
export function launchdManager(name: string, env: NodeJS.ProcessEnv): BootManager {
  const runCommand = createRunCommand(env)
  const label = `${name}.supervisor`
  const domain = `gui/${process.getuid?.()}`
  const folder = path.join(env['HOME'] || os.homedir(), 'Library', 'LaunchAgents')
  const where = path.join(folder, `${label}.plist`)
  const isLoaded = async (): Promise<boolean> =>
    (await runCommand('launchctl', ['print', `${domain}/${label}`])).code === 0
  return {
    name: 'launchd',
    where,
    render: command => renderPlist(label, command),
    async whyUnavailable() {
      const result = await runCommand('launchctl', ['print', domain])
      return result.code === 0 ? undefined : `launchd does not answer for ${domain}: ${describeFailure(result)}`
    },
    async find(): Promise<InstalledBoot | undefined> {
      if (!fs.existsSync(where)) return undefined
      const text = fs.readFileSync(where, 'utf8')
      const { stdout } = await runCommand('launchctl', ['print-disabled', domain])
      const isEnabled = !new RegExp(`"${label}" => (true|disabled)`).test(stdout)
      return { where, text, order: readPlist(text), isEnabled }
    },
    async install(command) {
      fs.mkdirSync(folder, { recursive: true })
      replaceFile(where, renderPlist(label, command))
      await runOrThrow(runCommand, 'launchctl', ['enable', `${domain}/${label}`])
    },
    async start() {
      if (await isLoaded()) await runOrThrow(runCommand, 'launchctl', ['bootout', `${domain}/${label}`])
      await runOrThrow(runCommand, 'launchctl', ['bootstrap', domain, where])
    },
    async remove() {
      // This ends only the keeper; the supervisor starts another.
      if (await isLoaded()) await runOrThrow(runCommand, 'launchctl', ['bootout', `${domain}/${label}`])
      fs.rmSync(where, { force: true })
      return { hasStopped: false }
    },
  }
}

/**
 * Renders an agent for launchd. launchd restarts it only after a failure: a keeper exits with 0 after a deliberate stop
 * of its supervisor or if another one is in charge. AbandonProcessGroup: launchd does not kill the keeper's children.
 */
export function renderPlist(label: string, command: BootCommand): string {
  const variables = { ONESHOT_HOME: command.home, PATH: command.path, ...(command.noResume && { [NO_RESUME]: '1' }) }
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by oneshot boot install; oneshot boot remove takes it away. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escapeXml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${bootArgv(command)
  .map(word => `    <string>${escapeXml(word)}</string>`)
  .join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(variables)
  .map(([name, value]) => `    <key>${name}</key>\n    <string>${escapeXml(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ProcessType</key>
  <string>Interactive</string>
</dict>
</plist>
`
}

/** Parses an agent that oneshot wrote; undefined for any other. */
export function readPlist(text: string): BootCommand | undefined {
  const argv = [...(/<array>(.*?)<\/array>/s.exec(text)?.[1]?.matchAll(/<string>(.*?)<\/string>/gs) ?? [])]
  const variable = (name: string): string | undefined =>
    new RegExp(`<key>${name}</key>\\s*<string>(.*?)</string>`, 's').exec(text)?.[1]
  return parseBootArgv(
    argv.map(([, word = '']) => unescapeXml(word)),
    unescapeXml(variable('PATH') ?? ''),
    variable(NO_RESUME) === '1',
  )
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>]/g, character => ENTITIES[character as keyof typeof ENTITIES])
}

function unescapeXml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
