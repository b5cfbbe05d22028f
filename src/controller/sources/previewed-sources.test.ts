import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../model/secret.ts'
import { readConfig } from '../config.ts'
import { previewedSources } from './open-sources.ts'

const URL = 'https://git.example/anna/home.git'
const PULLS = { repository: 'anna/home', token: { env: 'FORGE_TOKEN' } }
const DEPS = { data: '/data', cwd: '/', resolveSecret: async () => new Secret('unused') }

const previewed = (...sources: readonly Readonly<Record<string, unknown>>[]) =>
  previewedSources(readConfig({ sources }, {}, {}).sources, DEPS).map(({ source, api, branch }) => [
    source,
    api,
    branch,
  ])

test('only sources with pullRequests get their plan under pull requests; a known forge needs no address', () => {
  assert.deepEqual(
    previewed(
      { name: 'plain', url: URL },
      { name: 'hub', url: URL, pullRequests: { forge: 'github', ...PULLS } },
      {
        name: 'own',
        url: URL,
        branch: 'live',
        pullRequests: { forge: 'gitea', api: 'https://git.example/api/v1', ...PULLS },
      },
    ),
    [
      ['hub', 'https://api.github.com', 'main'],
      ['own', 'https://git.example/api/v1', 'live'],
    ],
  )
})
