/** git's messages for a refused login, with advice for the owner of the source. The first match wins. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /host key verification failed|host key .*has changed/i,
    'the server shows another key than ssh.hostKey of this source: compare ssh-keyscan with what its owner publishes, then correct ssh.hostKey',
  ],
  [
    /permission denied/i,
    'the server does not accept the SSH key: add its public key to the repository as a deploy key, or correct ssh.key of this source',
  ],
  [
    /connect tunnel failed|could not resolve proxy|proxy (?:connect|authentication)|from proxy/i,
    'croft asks through the proxy of HTTPS_PROXY, and the proxy does not let it through: correct HTTPS_PROXY, or name the server in NO_PROXY, and start croft again',
  ],
  [
    /authentication failed|could not read username|returned error: 40[13]/i,
    'the token is missing, wrong or expired, or may not read this repository: make a new one, and put it where token of this source names it',
  ],
  [
    /repository .*not found|not appear to be a git repository|returned error: 404/i,
    'correct url of this source; a repository that its token or key may not read looks the same',
  ],
  [
    /certificate/i,
    'set ca of this source to the file with the certificate of the authority that signed it, or correct url',
  ],
  [/could not resolve host/i, 'correct the name in url of this source, or the DNS of this computer'],
  [
    /failed to connect|connection (?:refused|timed out|reset)|no route to host|network is unreachable/i,
    'nothing answers there: correct url of this source, HTTPS_PROXY if it is set, or the network; croft asks again by itself',
  ],
  [/there is no (?:branch|tag)/i, 'push it, or correct branch or tag of this source'],
]

/** The next step after a message of git about the remote of a source; undefined where none is known. */
export function remoteAdvice(message: string): string | undefined {
  return ADVICE.find(([when]) => when.test(message))?.[1]
}
