import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remoteAdvice } from './remote-advice.ts'

test('each way in which a remote refuses has its own next step', () => {
  const cases: readonly (readonly [string, RegExp | undefined])[] = [
    ["fatal: Authentication failed for 'https://git.example/home.git/'", /token is missing, wrong or expired/],
    ['fatal: The requested URL returned error: 403', /token is missing, wrong or expired/],
    ["fatal: repository 'https://git.example/home.git/' not found", /correct url/],
    ['ERROR: Repository not found. fatal: Could not read from remote repository.', /correct url/],
    ["fatal: '/srv/home.git' does not appear to be a git repository", /correct url/],
    ['Host key verification failed. fatal: Could not read from remote repository.', /correct ssh\.hostKey/],
    ['git@git.example: Permission denied (publickey). fatal: Could not read from remote', /deploy key/],
    ['server certificate verification failed. CAfile: none CRLfile: none', /set ca of this source/],
    ['SSL certificate problem: unable to get local issuer certificate', /set ca of this source/],
    ['Could not resolve host: git.invalid', /correct the name in url/],
    ['ssh: Could not resolve hostname git.invalid: Name or service not known', /correct the name in url/],
    ['Failed to connect to 127.0.0.1 port 9 after 0 ms', /nothing answers there/],
    ['ssh: connect to host git.example port 22: Connection refused', /nothing answers there/],
    ['CONNECT tunnel failed, response 502', /HTTPS_PROXY.*NO_PROXY/],
    ['Could not resolve proxy: proxy.invalid', /HTTPS_PROXY.*NO_PROXY/],
    ["fatal: repository 'https://git.example/me/proxy.git/' not found", /correct url/],
    ['git rev-parse failed: there is no branch main', /correct branch or tag/],
    ['fatal: bad object', undefined],
  ]
  for (const [message, expected] of cases)
    if (expected === undefined) assert.equal(remoteAdvice(message), undefined)
    else assert.match(remoteAdvice(message) ?? '', expected, message)
})
