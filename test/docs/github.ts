import { appendFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { localCertificate } from '../../src/controller/testing/authority.ts'

/**
 * As much of https://api.github.com as the comments of one pull request need, for a reader in its own network. It listens
 * beside the server of the repositories, and writes down each comment. The argument is its directory.
 */
const directory = process.argv[2] ?? '.'
const { ca, cert, key } = localCertificate('api.github.com')
const comments: { readonly id: number; readonly body: string; readonly user: { readonly login: string } }[] = []
const ME = { login: 'me' }

const server = createServer({ cert, key }, (request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  request.on('end', () => {
    const { method, url = '' } = request
    const answer = (status: number, data: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(data))
    if (request.headers.authorization === undefined) return answer(401, { message: 'Requires authentication' })
    if (method === 'GET' && url === '/user') return answer(200, ME)
    if (!url.startsWith('/repos/me/home/issues/12/comments')) return answer(404, { message: 'Not Found' })
    if (method === 'GET') return answer(200, comments)
    const comment = { id: comments.length + 1, body: (JSON.parse(body) as { body: string }).body, user: ME }
    comments.push(comment)
    appendFileSync(`${directory}/comments`, `${comment.body}\n`)
    return answer(201, comment)
  })
})
server.listen(443, '127.0.0.2', () => writeFileSync(`${directory}/ca.pem`, ca))
