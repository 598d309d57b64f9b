import fs from 'node:fs'
import path from 'node:path'

/** Settings files of each program. */
export interface Places {
  readonly codex: string
  readonly opencode: string
  readonly pi: string
}

/** Writes the settings of programs that read their model from a file, with the model at this address. */
export function writeModelSettings(places: Places, url: string): void {
  write(path.join(places.codex, 'config.toml'), codex(url))
  write(places.opencode, JSON.stringify(opencode(url), null, 2))
  write(path.join(places.pi, 'models.json'), JSON.stringify(pi(url), null, 2))
}

function write(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}

function codex(url: string): string {
  return `model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`
}

function opencode(url: string): unknown {
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'mock/mock-model',
    small_model: 'mock/mock-model',
    provider: {
      mock: {
        npm: '@ai-sdk/openai-compatible',
        name: 'mock',
        options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
        models: {
          'mock-model': {
            name: 'mock-model',
            limit: { context: 200_000, output: 8_000 },
            cost: { input: 1, output: 5 },
          },
        },
      },
    },
  }
}

function pi(url: string): unknown {
  const model = {
    id: 'mock-model',
    contextWindow: 200_000,
    maxTokens: 8_000,
    cost: { input: 1, output: 5, cacheRead: 0, cacheWrite: 0 },
  }
  return {
    providers: { mock: { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'dummy', models: [model] } },
  }
}
