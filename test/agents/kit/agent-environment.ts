export const KEY = 'sk-ant-dummy'

const PERSON = { NAME: 'A Person', EMAIL: 'person@example.com' }

/**
 * Environment of the agent programs besides their home and PATH: no updates, no telemetry, no downloads, dummy keys.
 */
export const AGENT_ENVIRONMENT: Readonly<Record<string, string>> = {
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  GIT_AUTHOR_NAME: PERSON.NAME,
  GIT_AUTHOR_EMAIL: PERSON.EMAIL,
  GIT_COMMITTER_NAME: PERSON.NAME,
  GIT_COMMITTER_EMAIL: PERSON.EMAIL,
  GIT_CONFIG_NOSYSTEM: '1',
  ANTHROPIC_API_KEY: KEY,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  MOCK_KEY: 'dummy',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_SHARE: '1',
  GEMINI_API_KEY: 'dummy',
  PI_OFFLINE: '1',
  PI_TELEMETRY: '0',
  PI_SKIP_VERSION_CHECK: '1',
  // Without it, claude 2.1 refuses full autonomy as root.
  ...(process.getuid?.() === 0 && { IS_SANDBOX: '1' }),
}
