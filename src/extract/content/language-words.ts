/**
 * The commonest short words of languages that share a script. In running text every third to fifth word is one of
 * them, whatever the text is about; names, code and borrowed terms contain none.
 */

/** By language: its words, and the letters of its alphabet beyond those that the script's languages have in common. */
export interface LanguageWords {
  readonly code: string
  readonly words: string
  readonly letters: string
}

const list = (
  entries: readonly (readonly [code: string, letters: string, words: string])[],
): LanguageWords[] => entries.map(([code, letters, words]) => ({ code, letters, words }))

export const LATIN: readonly LanguageWords[] = list([
  [
    'en',
    '',
    'the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up what its about than into them can only other some could these may then any such must your should shall',
  ],
  [
    'de',
    'äöüß',
    'der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei ich kann wenn vom ihre können dieser diese dieses unter wir soll ihr hier alle jeder seine müssen gegen schon sehr da ohne zwischen also wurden jede keine kein mich uns was wer',
  ],
  [
    'fr',
    'àâçéèêëîïôùûüœæÿ',
    'de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont la les avec son aux ou cette on mais être comme nous tout sa fait été aussi leur bien peut ces deux elle ont même ses entre vous sans autres après ainsi où si dont était très je faire cela quand donc avoir leurs sous car encore il toute tous ils qu d l c n s j lui afin chaque toutes votre',
  ],
  [
    'es',
    'áéíóúñü¿¡',
    'de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros ese eso ante ellos e esto mí antes algunos qué unos yo otro otras otra él tanto esa estos mucho nada muchos cual poco ella estar estas algunas algo nosotros ser es son fue puede está ha han tiene derecho toda cada así',
  ],
  [
    'pt',
    'áâãàçéêíóôõúü',
    'de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos ter seus quem nas me esse eles estão você tinha foram essa num nem suas meu às minha têm numa pelos elas havia seja qual será nós tenho lhe deles essas esses pelas este fosse dele são pode todos toda direito sobre outros',
  ],
  [
    'gl',
    'áéíóúñü',
    'de a e o que do da en un os unha se por con para as dos non no ao das na é como máis súa pola seu polo á ou tamén foi entre sen sobre aos nos pero nas unha son ser ata desde onde moi toda todo persoa ten cando este esta xa nin mais toda teñen dereito cada pode só outros tódolos pois',
  ],
  [
    'ca',
    'àçéèíïóòúü',
    'de la i a que el en les dels els per un amb una del al es no és va ser com més seu seva o són aquest aquesta als també però si fou han ha pel seus on molt entre fins ja tot per tots persona dret té qualsevol sense cap ni altres d l hi això pot sobre quan cada des la qual ell vaig estat tota perquè',
  ],
  [
    'it',
    'àèéìíîòóùú',
    'di e il la che in a per è un non del si da una con i della le sono dei al come più ma alla nel gli anche delle lo dal ha ed suo sua questo o se su cui stato dalla essere ad nella ogni loro tra degli ai questa stata sul hanno quando era fu dopo così due suoi prima anni tutti individuo diritto tutte ciò molto fra alle altri sulla può senza nei perché chi dell all l d un nell sull qualsiasi quale solo ancora',
  ],
  [
    'ro',
    'ăâîșțşţ',
    'de și în a la cu care din pe o un nu pentru că se este sa al mai fi sau ce lui ale au prin să ca cele ei dar după fost sunt lor are său orice dreptul toate fie acest această unei unui iar cel cea pot poate între fără nici fiecare orice om persoană persoane și asupra către doar când foarte',
  ],
  [
    'nl',
    'éëïóöü',
    'de van het een en in is dat op te zijn voor met die niet aan er om ook als dan maar bij of uit nog naar heeft hij ze wordt door over werd tot was ik je kan meer deze worden al dit zich hebben geen men moet wel zou onder wij zo tegen haar had hun na veel welke ieder recht zal hem wie wat waar kunnen heb mijn ons onze alle eens',
  ],
  [
    'af',
    'êëéèôûïáóöü',
    "die van en in is het dat nie 'n te op met vir aan wat ʼn hy om sy was as word ook by deur hulle of wees moet sal kan tot ek uit na ons maar jy reg elkeen geen hierdie om enige se daar nog haar jou meer teen onder",
  ],
  [
    'sv',
    'åäöé',
    'och i att det som en på är av för med den till inte har de ett om var jag men sig från vi så kan hade när skall ska eller han än hon vid också efter sina man bara blev detta mot ut genom under där alla över år få denna dess rätt envar ingen varje vara utan andra bli ej mycket hans här vad utan',
  ],
  [
    'da',
    'æøåé',
    'og i at er en det af til på den for med der de som ikke har et om var fra men kan sig ved han vil også eller efter skal blev havde jeg så over være hun ud sin end nu mod hvor blive når man da mellem enhver ret ingen uden dette denne deres alle hvad noget bliver hvis disse meget nogen andre mange',
  ],
  [
    'nb',
    'æøåéòô',
    'og i det er på som en til av for at med har de ikke den om et fra men var vi seg å kan han også eller ble skal etter så hadde jeg ved hun ut sin enn nå mot blir når man da mellom enhver rett ingen uten dette denne deres alle hva noe hvis disse meget bli være vil mye over etter noen andre mange være fram',
  ],
  [
    'nn',
    'æøåéòô',
    'og i det er på som ein til av for at med har dei ikkje den om eit frå men var vi seg å kan han også eller vart skal etter så hadde eg ved ho ut sin enn no mot blir når ein då mellom rett ingen utan dette denne deira alle kva noko dersom desse mykje bli vere vil kvar nokon vera andre',
  ],
  [
    'is',
    'áéíóúýðþæö',
    'og í að á er sem um til við með ekki af það fyrir en hann var eru hefur þess því frá eða ég hún þeir hans svo þar verið sér skal hver rétt allir enginn þessi þá vera eftir upp yfir þau hafa má eiga manna undir verða',
  ],
  [
    'fo',
    'áíóúýðæø',
    'og at í á er til við av hann sum ikki ein ið fyri tað teir hevur um ella sínum skal hvør rætt eingin øll allir hava uttan eisini frá teimum hesum var sín',
  ],
  [
    'fi',
    'äöå',
    'ja on ei se että hän oli ovat joka myös mutta kun sekä tai jos niin kuin sen jotka vain hänen ole mukaan olla jo vielä voi tämä ne jonka mitä tämän myös olisi ollut kanssa ennen sitä nyt siitä jossa sitten jokaisella oikeus ilman ketään kaikki kaikkien oikeuksien itse minä tulee älköön mikä',
  ],
  [
    'et',
    'äöüõšž',
    'ja on ei et ka see kui oma ning aga mis või oli ta kes tema selle siis seda ole nii veel nende pole saab kõik mida iga nagu olema igaühel õigus inimese keegi ilma tuleb peab kus võib üle välja pärast mitte selle need',
  ],
  [
    'lv',
    'āčēģīķļņšūž',
    'un ir ar no par kas uz ka tā arī kā pie vai tas viņa bet lai ne pēc tiek gan kuras kura bija viņš to nav katram cilvēkam tiesības ir savu jo pret var kuru šo viņu līdz būt tikai ikvienam jebkuru nevienu starp visu bez',
  ],
  [
    'lt',
    'ąčęėįšųūž',
    'ir yra į kad su iš kaip tai bet buvo jo o dėl ar apie per nuo jis po kai tik dar jų savo taip prie kurie kiekvienas turi teisę žmogus jos arba visi būti pagal gali už tačiau niekas nei be turėti tokia visų ne iki',
  ],
  [
    'pl',
    'ąćęłńóśźż',
    'i w na z do się nie o jest to że od za po jak dla przez przy oraz który co jego tym być są tak ale tego lub było też jej był już może ich które która tylko ma ze pod bez czy jako każdy człowiek prawo każda wszystkich nikt gdy roku także gdzie sobie bardzo można bo nad również wszystkie',
  ],
  [
    'cs',
    'áčďéěíňóřšťúůýž',
    'a v na se je že o s z do i to by pro za jako jsou ale od po jeho který tak být nebo k ve podle při byl jen bylo jak až které ze mezi byla jsem má co než i své také její může tím pod každý právo nikdo všechny bez která již není této před těchto jejich pouze kdo však aby',
  ],
  [
    'sk',
    'áäčďéíĺľňóôŕšťúýž',
    'a v na sa je že o s z do aj to by pre za ako sú ale od po jeho ktorý tak byť alebo k vo podľa pri bol len bolo keď až ktoré zo medzi bola som má čo než i svoje tiež jej môže tým pod každý právo nikto všetky bez ktorá už nie tejto pred týchto ich iba kto však aby so',
  ],
  [
    'sl',
    'čšž',
    'in je na v za se da ki z po ne so od tudi pri kot o iz do s kar ali kako bi ni pa bil bila bilo le že sta svoje njegove ko biti vsak pravico ima nihče vsi brez med kateri katere svojega svojo lahko vse to če njihove zaradi mora',
  ],
  [
    'hr',
    'čćđšž',
    'i u je na se da za su s od o a kao ne iz po te što koji ili do bi nije će njegov sa samo koje biti ali bio bila bilo može svatko svako pravo ima nitko niko svi bez između kako koja prema jer to svoje tijekom tokom ako gdje gde sve svog nego pri jednak koju',
  ],
  [
    'hu',
    'áéíóöőúüű',
    'a az és hogy nem is egy van ez de meg el csak volt mint azt ha még vagy már ki kell minden nagy fel mert lehet amely amelyek után szerint pedig személynek joga van joga senkit sem ezt aki ki be ezek vagyis valamint között illetve akár során által így olyan annak minden',
  ],
  [
    'sq',
    'çë',
    'të e në dhe i që me një për nga së u ka është si do më po ai nuk por se tij ose kjo ky janë kanë deri kur saj mund gjithë çdo njeri drejtë drejtën askush pa para këtë prej tyre duke edhe ishte',
  ],
  [
    'tr',
    'çğıöşüâî',
    've bir bu da de için ile çok daha gibi olarak ne o kadar sonra var her en ama ise değil mi olan ki veya herkes hakkı hiç kendi göre olduğu tarafından diye bütün hiçbir kimse bunun şey hem etmek ya haiz üzere iki içinde',
  ],
  [
    'az',
    'çəğıöşü',
    'və bir bu da də üçün ilə çox olan kimi hər o sonra var öz onun ki ya bütün hüququ malikdir heç insan şəxs olmalıdır tərəfindən azad bilər olduğu edilə başqa belə həm nə',
  ],
  [
    'uz',
    'ʻʼ',
    "va bir bu bilan uchun ham o bo lgan emas har qilish edi yoki kabi deb keyin ega huquqiga inson barcha boʻlgan hech shaxs kerak tomonidan lozim o'z ozining bo'lgan bo‘lgan o‘z",
  ],
  [
    'tk',
    'äçňöşüýž',
    'we bir bu bilen üçin hem her da ol öz ýa bolan adam hukugy bardyr hiç ähli ýaly onuň edilmeli bolup däldir',
  ],
  [
    'ku',
    'çêîşû',
    'û di ku de ji bi li ev her yên wî xwe ne bo kes an ya mafê heye hemû wê dibe jî hatin be divê mirov',
  ],
  [
    'vi',
    'ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ',
    'và của là có được cho trong không các một người với những này đã để khi từ đến về như ra cũng ở vào nhiều theo tại sẽ phải trên hay hoặc bị nếu bạn quyền mọi đều mà do thì năm lại còn nên rằng sự việc sau tất cả đó bằng',
  ],
  [
    'id',
    '',
    'yang dan di dengan untuk dari ini dalam itu tidak pada adalah orang akan ke oleh atau sebagai karena juga telah bisa dapat ada setiap berhak mereka tersebut hak secara saya lebih sudah kita para tanpa harus seorang kepada bagi hanya seperti anda kami tahun namun bahwa saat menjadi boleh menggunakan',
  ],
  [
    'ms',
    '',
    'yang dan di dengan untuk daripada kerana ialah dari ini dalam itu tidak pada adalah orang akan ke oleh atau sebagai kerana juga telah boleh dapat ada setiap berhak mereka tersebut hak secara saya lebih sudah kita para tanpa hendaklah seseorang kepada bagi hanya seperti anda tahun bahawa adalah mempunyai ialah sahaja daripada terhadap manakala iaitu',
  ],
  [
    'tl',
    'ñ',
    'ang ng sa na at mga ay ito para ni kung siya may hindi kanyang si o bawat tao karapatan kaniyang lahat isang kanilang walang dapat pagkakaroon nito upang ako niya namin pang rin mula pag',
  ],
  [
    'sw',
    '',
    'na ya wa kwa ni katika za la cha kila mtu ana haki au yake kama hii hiyo watu wote kuwa bila yoyote ambayo pia lakini hayo vya yao huo hiyo hivyo sana',
  ],
  [
    'so',
    '',
    'iyo oo ah waa ka ku la uu u in ama qof xaq leeyahay lagu kasta aan loo wax ay soo kale waxaa si',
  ],
  [
    'ha',
    'ɓɗƙ',
    'da na a ta ya ko kuma wani cikin shi yana ba ga su wannan kowa hakki yake wata kowane domin daga iya',
  ],
  ['yo', 'ẹọṣàáèéìíòóùú', 'ti ni tí ó sì àti fún kan náà bá wọn láti pẹ̀lú gbogbo ènìyàn ẹ̀tọ́ jẹ́ rẹ̀ wà kò'],
  [
    'zu',
    '',
    'ukuthi futhi noma ngoba kanye wonke umuntu unelungelo kumele lokhu yakhe kwakhe abantu lapho kodwa uma kuze konke ngokuthi',
  ],
  [
    'cy',
    'ŵŷâêîôûïáé',
    'y yn a i o yr ar ac mae am ei gan wedi er i hyn fod bod un gyda oedd neu hawl pawb hon nid heb eu cael fel sydd na drwy ond bydd mewn at',
  ],
  [
    'ga',
    'áéíóú',
    'an na agus a i ar le is do go ag ón den sé tá bhí sa as faoi leis nó gach duine ceart chun aon seo sin ach gan mar ní siad nach',
  ],
  [
    'gd',
    'àèìòù',
    'an na agus a air le do gu aig tha bha anns ann e is no gach còir neach sam bith bho mar nach seo sin ach gun dhen chan',
  ],
  ['br', 'ñùê', 'an ar ha da eus e en ur un pep den gwir evit gant war n eo pe kement hep zo en deus bet'],
  [
    'mt',
    'ċġħż',
    'u li ta il ma fil mill għal minn dan tal biex jew kull wieħed jedd għandu bħala ebda hu din hija fuq huwa lil kif tkun dawn',
  ],
  [
    'eu',
    'ñ',
    'eta da ez bat du dira izan duen ere ditu edo hau horrek dute beste gizaki eskubidea gizonek guztiak bere baina egin zen izango dela behar norberak pertsona orok dago',
  ],
  [
    'eo',
    'ĉĝĥĵŝŭ',
    'la kaj de en estas al ne por ĉiu kiu per tiu sed kun ĝi mi li oni havas rajton aŭ el pri esti ili sia sian rajtas kiel ĉi tio ankaŭ je',
  ],
  [
    'la',
    'āēīōū',
    'et in est ad non cum ut ex quod qui a de si sed per quae aut sunt esse ab hoc enim quam eius omnes ius nec quis vel neque atque',
  ],
  [
    'lb',
    'äëéöü',
    'an de d den déi vun ze mat op net e fir as ass en sech dat eng ass wéi an am gëtt huet all recht kee mënsch oder säi zu hunn iwwer vum',
  ],
  [
    'mg',
    '',
    'ny sy amin ho an tsy izay dia fa na no olona rehetra zo tsirairay manana koa ary tokony ireo mba noho',
  ],
])

export const CYRILLIC: readonly LanguageWords[] = list([
  [
    'ru',
    'ёыэъщ',
    'и в не на с что по как это к из за от для он или так его но все у а же бы был то о до при только может быть их если мы я вы она они было который которые также когда во со этого можно есть чтобы через под без после еще уже каждый человек имеет право нет где том этой более были будет',
  ],
  [
    'uk',
    'іїєґщ',
    'і в на не що з та у до як для за це від про його або але є бути він було які по також який а може при якщо її щоб має вони їх коли під без після більше того ще право кожна людина із ми ви так цього між всі',
  ],
  [
    'be',
    'ўіыэё',
    'і ў на не з што у да як для за гэта ад пра яго або але ён па а быць таксама пры калі яе каб мае яны іх які якія без пасля права кожны чалавек ці гэтага мы яшчэ можа усе былі',
  ],
  [
    'bg',
    'щъ',
    'и на в за се да не с от по е са че като до или при към това със има бъде ще бе след му как но което който която които всеки човек право може във през само от един а така още между ако без тази този',
  ],
  [
    'mk',
    'ѓѕјљњќџ',
    'и на во за се да не со од по е дека како до или при кон ова има биде ќе го ги му но што кој која кои секој човек право може само еден а така меѓу ако без оваа овој беше сите',
  ],
  [
    'sr',
    'ђјљњћџ',
    'и у је на се да за су са од о а као не из по те што који или до би није ће његов само које бити али био била било може свако право има нико сви без између како која према јер то своје током ако где све свог него при',
  ],
  [
    'kk',
    'әғқңөұүһі',
    'және мен бұл бір үшін да де деп бар болып оның бойынша әр адам құқығы құқылы немесе тиіс өз барлық екі кез ешкім болған сияқты еді керек ол осы бойы қарай',
  ],
  [
    'ky',
    'ңөү',
    'жана менен бул бир үчүн да деп бар болуп анын боюнча ар адам укугу укуктуу же тийиш өз бардык эки ким болгон сыяктуу эле керек ал ошол эч',
  ],
  [
    'tt',
    'әөүҗңһ',
    'һәм белән бу бер өчен да дә дип бар булып аның буенча һәр кеше хокукы хокуклы яки тиеш үз барлык ул булган кебек иде кирәк бик',
  ],
  [
    'mn',
    'өүэё',
    'нь болон бол байна энэ юм ба гэж хүн бүр эрхтэй эрх байх аливаа тэр нэг болно ямар өөрийн буюу бүх уу хийх байсан гэсэн ч',
  ],
  [
    'tg',
    'ғӣқӯҳҷ',
    'ва дар аз ба ки он ин барои бо ҳар инсон ҳуқуқ дорад як шахс ё худ бояд ҳам ҳеҷ кас то аст шудааст мешавад',
  ],
])

export const ARABIC: readonly LanguageWords[] = list([
  [
    'ar',
    'ةىأإ',
    'في من على أن إلى التي عن لا هذا أو ما مع كل هذه الذي ذلك كان و لم بعد قد هو كما بين إن عند حق لكل شخص هي أي غير له ثم حيث فإن يمكن منها عليه حتى وقد ولا أنه تم',
  ],
  [
    'fa',
    'پچژگکی',
    'و در به از که این را با است برای آن یک خود تا کرد بر هم نیز شد های می هر دارد یا شود باید حق کس بود او ما شده اند کند هیچ ها کنید بین دیگر همه پس اگر',
  ],
  [
    'ur',
    'ٹڈڑںےہھۂۓ',
    'کے کی میں ہے کا اور سے کو یہ پر اس نے ہیں کہ ہر ایک بھی جو نہیں کر کیا گیا شخص حق یا تک تھا وہ اپنے ہو لیے جائے ان کسی حاصل',
  ],
  [
    'ps',
    'ټډړږښڅځڼېۍپچژکگیىئآ',
    'د په او چې له دی کې سره نه دا هر تر یو څوک حق لري شي ته هم کړي يا چه يې دي کوي',
  ],
  ['ckb', 'ێۆڵڕڤەپچژگکیئ', 'و لە بە بۆ کە هەر ئەم لەگەڵ مافی هەیە نابێ یان دەبێ خۆی ئەو هەموو کەس بێ'],
  ['ug', 'ېۈۆۇەڭپچژگىئۋ', 'ۋە بىلەن بۇ بىر ئۈچۈن ھەر ئادەم ھوقۇقىغا ھەممە ئۆز ياكى كېرەك بولغان دەپ'],
  ['sd', 'پچڇگیيڄڃٻڀٺٽڌڏڊڪڳڱڻ', '۾ جي جو کي آهي ۽ سان تي کان هر شخص حق جا ته اهو نه لاءِ ڪنهن'],
])

export const DEVANAGARI: readonly LanguageWords[] = list([
  [
    'hi',
    '',
    'के का में की है से और को पर यह ने एक हैं कि भी इस या तथा हो नहीं लिए किया जो कर प्रत्येक व्यक्ति अधिकार था गया अपने साथ करने जाता होगा किसी तो वह हर',
  ],
  [
    'mr',
    'ळ',
    'आणि आहे या व च ते हे किंवा की तो ही होते प्रत्येक अधिकार आहेत नाही असे करण्याचा म्हणून त्या त्याच्या झाला येथे मध्ये केले सर्व कोणत्याही कोणालाही आपल्या',
  ],
  [
    'ne',
    '',
    'र को मा छ हुन्छ ले लाई गर्न पनि छन् भएको एक यो वा गरेको प्रत्येक व्यक्ति अधिकार हुनेछ तथा आफ्नो कुनै हो थियो गर्ने सबै लागि गरिने तर भने',
  ],
])

export const HEBREW: readonly LanguageWords[] = list([
  [
    'he',
    '',
    'של את על לא הוא זה עם גם או כל היא אל כי יש אין אדם זכאי אשר בין היה לו אני אבל אם מה רק כך יותר',
  ],
  [
    'yi',
    'װױײ\u05b7\u05b8\u05bf',
    'און די פון אַ צו איז אין דער מיט פֿון דאָס ניט נישט האָט רעכט מענטש יעדער אדער זײַן',
  ],
])

export const ETHIOPIC: readonly LanguageWords[] = list([
  ['am', '', 'እና ነው ላይ ወይም ሰው መብት አለው ማንኛውም ውስጥ እንደ በ ጋር ሁሉ ያለ ይህ ነበር ደግሞ ወደ'],
  ['ti', '', 'ኣብ እዩ ናይ ሰብ መሰል ኣለዎ ወይ ካብ ነቲ እቲ ከም ንኹሉ ዝኾነ ምስ ዘለዎ'],
])

export const BENGALI: readonly LanguageWords[] = list([
  ['bn', 'র', 'ও এবং করে এই একটি থেকে না জন্য হয় তার করা প্রত্যেকের অধিকার বা সাথে আছে যে হবে কোন'],
  ['as', 'ৰৱ', 'আৰু কৰা এই পৰা এটা হয় তেওঁৰ অধিকাৰ বা আছে যে প্ৰত্যেক কৰি বাবে'],
])
