import { isUtf8 } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import { guessEncoding } from '../../../src/extract/charset/guess.js'
import { cpuMs } from '../../cpu-time.js'
import { encode } from './encode.js'

/** A little of what pages say, in the languages that were written in other encodings than UTF-8. */
const SENTENCES: [language: string, encodings: string[], text: string][] = [
  ['French', ['windows-1252'], 'Où êtes-vous né ? L’été à la plage, ça me plaît déjà.'],
  ['German', ['windows-1252'], 'Öffnungszeiten: täglich außer Dienstag, für Gäste auch später.'],
  ['Spanish', ['windows-1252'], '¿Cuándo llegó el niño? Mañana será otro día, señora. ¡Adiós!'],
  ['Portuguese', ['windows-1252'], 'Não há informações sobre a situação da estação até amanhã.'],
  ['Italian', ['windows-1252'], 'Perché la città è così bella? Più tardi andrò al caffè.'],
  ['Swedish', ['windows-1252'], 'Älgen går över ån, och därför är vägen stängd på lördag.'],
  ['Danish', ['windows-1252'], 'Blåbærgrød på søndag, når børnene kommer hjem fra øen.'],
  ['Finnish', ['windows-1252'], 'Tämä päivä on hyvä: pöydällä on lämmintä leipää.'],
  ['Icelandic', ['windows-1252'], 'Það er gott veður í dag og við förum út á sjó með þér.'],
  ['English with signs', ['windows-1252'], '“Don’t worry” – it’s only 5 € … she’d said – that’s all.'],
  [
    'Czech',
    ['windows-1250', 'iso-8859-2'],
    'Příliš žluťoučký kůň úpěl ďábelské ódy, řekl starý pán při večeři.',
  ],
  ['Polish', ['windows-1250', 'iso-8859-2'], 'Zażółć gęślą jaźń, powiedział mąż i poszedł spać na łóżko.'],
  [
    'Hungarian',
    ['windows-1250'],
    'Magyarországon szép idő várható, a szülők és a gyerekek együtt sétálnak, később vacsorát főznek.',
  ],
  ['Croatian', ['windows-1250', 'iso-8859-2'], 'Kuća je mala, ali noću čujemo more; gošća će doći s đacima.'],
  [
    'Czech news',
    ['windows-1250', 'iso-8859-2'],
    'Dnes bude převážně oblačno, místy přeháňky. Teploty vystoupí na dvanáct stupňů, na horách bude sněžit.',
  ],
  [
    'Polish, with letters that are signs in the other encoding',
    ['windows-1250', 'iso-8859-2'],
    'Wisła jest najdłuższą rzeką w Polsce; nad jej brzegami leżą Kraków, Warszawa i Gdańsk.',
  ],
  [
    'Slovak',
    ['windows-1250', 'iso-8859-2'],
    'Slovensko je štát v strednej Európe. Najväčším mestom je Bratislava, ktorá leží na brehoch Dunaja, želám vám pekný deň.',
  ],
  [
    'Slovene',
    ['windows-1250', 'iso-8859-2'],
    'Danes bo delno oblačno, popoldne pa so možne krajevne plohe. Najvišje temperature bodo okoli šestnajst stopinj, več pozneje.',
  ],
  ['Romanian', ['windows-1250'], 'Dacă plouă astăzi, rămânem acasă şi citim o carte în faţa ferestrei.'],
  [
    'Turkish',
    ['windows-1254'],
    'Bugün hava çok güzel, akşam çocuklarla sığınağa doğru yürüyeceğiz, ışık açık.',
  ],
  [
    'Lithuanian',
    ['windows-1257'],
    'Šiandien gražus oras, todėl einame į mišką rinkti grybų ir uogų su vaikų būriu.',
  ],
  [
    'Russian',
    ['windows-1251', 'koi8-u', 'iso-8859-5', 'ibm866', 'x-mac-cyrillic'],
    'Сегодня хорошая погода, и мы идём гулять в парк.',
  ],
  [
    'Russian in capitals',
    ['windows-1251', 'koi8-u', 'ibm866'],
    'ГЛАВНАЯ СТРАНИЦА НОВОСТИ КОНТАКТЫ О КОМПАНИИ',
  ],
  [
    'Russian titles',
    ['windows-1251', 'koi8-u', 'ibm866', 'x-mac-cyrillic'],
    'Главная Новости Контакты О Компании Услуги Форум Поиск Каталог Товаров',
  ],
  ['Ukrainian', ['windows-1251', 'koi8-u'], 'Сьогодні гарна погода, і ми йдемо гуляти до річки.'],
  ['Bulgarian', ['windows-1251'], 'Днес времето е хубаво и отиваме на разходка в парка.'],
  ['Greek', ['windows-1253'], 'Σήμερα ο καιρός είναι ωραίος και πηγαίνουμε βόλτα στο πάρκο.'],
  ['Hebrew', ['windows-1255'], 'היום מזג האוויר יפה ואנחנו הולכים לטייל בפארק.'],
  ['Hebrew that is short', ['windows-1255'], '12.5.2003 עדכון אחרון, ברוכים הבאים'],
  ['Hebrew from left to right', ['windows-1255'], '.קראפב לייטל םיכלוה ונחנאו הפי ריוואה גזמ םויה'],
  ['Arabic', ['windows-1256', 'iso-8859-6'], 'الطقس جميل اليوم ونحن ذاهبون في نزهة إلى الحديقة.'],
  ['Thai', ['windows-874'], 'วันนี้อากาศดีมาก เราจะไปเดินเล่นที่สวนสาธารณะกับเพื่อน'],
  ['Japanese', ['shift_jis', 'euc-jp'], '今日は天気がいいので、公園まで散歩に行きます。'],
  ['Japanese names', ['shift_jis', 'euc-jp'], 'アメリカ カナダ フランス ドイツ オーストラリア'],
  ['Korean', ['euc-kr'], '오늘은 날씨가 좋아서 공원으로 산책하러 갑니다.'],
  ['Korean chat', ['euc-kr'], '안녕하세요 ㅋㅋㅋ 반갑습니다 ㅎㅎ ☎ 문의 ① ② ③'],
  ['Korean with Chinese characters', ['euc-kr'], '국회의원 選擧 개표 결과 보기, 프로그램 안내'],
  ['Simplified Chinese', ['gb18030'], '今天天气很好，我们去公园散步，晚上在家吃饭。'],
  ['Names in simplified Chinese', ['gb18030'], '阿尔巴尼亚 阿根廷 澳大利亚 奥地利 比利时'],
  ['Traditional Chinese', ['big5'], '今天天氣很好，我們去公園散步，晚上在家吃飯。'],
]

const TABLE = SENTENCES.flatMap(([name, encodings, text]) =>
  encodings.map((encoding) => [name, encoding, text] as const),
)

describe('guessEncoding', () => {
  it.for(TABLE)('%s in %s', ([, encoding, text]) => {
    const body = encode(`<title>${text}</title><p class="a">${text}</p>`, encoding)
    expect(isUtf8(body)).toBe(false)
    expect(guessEncoding(body)).toBe(encoding)
  })

  it('reads the whole page by what it guessed', () => {
    const body = encode('<title>Погода сегодня</title><a href="/погода">', 'windows-1251')
    const page = pageOf({ url: 'https://example.com/', body, headers: { 'content-type': 'text/html' } })
    expect([page.charset, page.title]).toEqual(['windows-1251', 'Погода сегодня'])
  })

  const doubtful: [what: string, body: Buffer, encoding: string][] = [
    ['one letter', Buffer.from([0xe9]), 'windows-1252'],
    ['three letters', Buffer.from([0xcf, 0xf0, 0xe8]), 'windows-1252'],
    ['signs alone', Buffer.from([0x93, 0x20, 0x94, 0x20, 0x96, 0x20, 0x85, 0x20, 0x99]), 'windows-1252'],
    [
      'UTF-8 that was cut',
      Buffer.from('Größe, Übung, Straße, Öl – schön für später!…').subarray(0, -1),
      'utf-8',
    ],
    [
      'UTF-8 with a stranger in it',
      Buffer.concat([Buffer.from('Привет, мир! Сегодня хорошая погода. '), Buffer.from([0xe9])]),
      'utf-8',
    ],
  ]
  it.for(doubtful)('%s', ([, body, encoding]) => {
    expect(guessEncoding(body)).toBe(encoding)
  })

  it('looks at a bounded part of a large page', () => {
    const body = Buffer.alloc(20_000_000, 0xe9)
    const started = cpuMs()
    guessEncoding(body)
    expect(cpuMs() - started).toBeLessThan(5000)
  })
})
