import { type BootOrder, bootArgv, NO_RESUME, orderIn } from './boot-order.ts'

/**
 * An agent for launchd. It is started anew only when it failed: a keeper leaves with 0 when its supervisor was stopped on
 * purpose or another one is in charge. AbandonProcessGroup: what the keeper has started is not killed with it.
 */
export function renderPlist(label: string, order: BootOrder): string {
  const variables = { ONESHOT_HOME: order.home, PATH: order.path, ...(order.noResume && { [NO_RESUME]: '1' }) }
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by oneshot boot install; oneshot boot remove takes it away. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escaped(label)}</string>
  <key>ProgramArguments</key>
  <array>
${bootArgv(order)
  .map(word => `    <string>${escaped(word)}</string>`)
  .join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(variables)
  .map(([name, value]) => `    <key>${name}</key>\n    <string>${escaped(value)}</string>`)
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

/** What an agent of ours starts; undefined when it is none. */
export function readPlist(text: string): BootOrder | undefined {
  const argv = [...(/<array>(.*?)<\/array>/s.exec(text)?.[1]?.matchAll(/<string>(.*?)<\/string>/gs) ?? [])]
  const variable = (name: string): string | undefined =>
    new RegExp(`<key>${name}</key>\\s*<string>(.*?)</string>`, 's').exec(text)?.[1]
  return orderIn(
    argv.map(([, word = '']) => unescaped(word)),
    unescaped(variable('PATH') ?? ''),
    variable(NO_RESUME) === '1',
  )
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, character => ENTITIES[character as keyof typeof ENTITIES])
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
