"""What an out-of-domain check warns about: shares of texts warned, by kind of text.

    python benchmarks/domain.py DATA

The stories of one half of WritingPrompts' items are described; the other half, the stories of other
data sets in the folder DATA, and made-up texts that are no English prose are then held against that
description. The share for the other half is how often the check cries wolf.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

from fabula import Story
from fabula.datasets import load_dataset
from fabula.learned.reader.domain import describe_domain, describe_oddities
from fabula.learned.training.stories import data_folder

MOST = 2000  # stories of a data set
SPOKEN = {"words": "learned from stories of", "surface": "its surface"}

FOREIGN = {
    "German": "Als die alte Frau am Morgen das Fenster öffnete, lag Schnee auf den "
    "Dächern, und in der Gasse stand ein Junge mit einem Koffer. Er fragte nach dem Weg zum "
    "Hafen, doch den Hafen hatte man vor vierzig Jahren zugeschüttet. Sie zog ihren Mantel "
    "an und ging mit ihm, weil sie wissen wollte, wer ihn noch immer dorthin schickte.",
    "French": "Le facteur avait oublié la lettre au fond de sa sacoche pendant onze ans. "
    "Quand il la retrouva, l'encre était pâle et le village presque vide. Il monta quand "
    "même la colline, frappa à la porte bleue, et une femme qu'il ne connaissait pas lui "
    "demanda pourquoi il avait mis si longtemps à venir.",
    "Spanish": "Mi abuela guardaba el mar en una botella verde. Cada domingo la destapaba "
    "un momento, y toda la cocina olía a sal y a barcos viejos. Cuando murió, mi hermano "
    "quiso venderla, pero yo la llevé hasta la playa, la abrí, y no salió nada: el mar ya se "
    "había ido con ella.",
    "Italian": "Il treno si fermò in mezzo ai campi e nessuno seppe dire perché. Dopo "
    "un'ora un bambino scese a raccogliere papaveri, poi scesero gli altri, e qualcuno tirò "
    "fuori una fisarmonica. Quando la locomotiva fischiò di nuovo, mancavano due passeggeri, "
    "e le loro valigie erano piene di terra.",
    "Portuguese": "O relojoeiro da vila tinha uma regra: nunca consertar um relógio parado "
    "na hora de uma morte. Um dia trouxeram-lhe o da igreja, que marcava três e dez desde a "
    "cheia. Ele passou a noite a olhar para os ponteiros e, de manhã, fechou a loja para "
    "sempre.",
    "Dutch": "Niemand in het dorp wist waarom de molenaar elke avond een kaars in het "
    "bovenste raam zette. Toen hij ziek werd, nam zijn dochter het over, en in de derde "
    "nacht zag zij het: een licht aan de overkant van het water dat even doofde en dan weer "
    "brandde, als een antwoord.",
    "Swedish": "När isen gick upp den våren hittade pojkarna en cykel på botten av sjön, "
    "låst vid ingenting. De drog upp den, oljade kedjan och turades om att cykla genom byn. "
    "Bara gamla Märta vände sig bort, för hon mindes vem som hade ringt med den klockan "
    "utanför hennes fönster.",
    "Polish": "Na strychu stała skrzynia, której nikt nie otwierał od wojny. Kiedy dach "
    "zaczął przeciekać, ojciec zniósł ją do kuchni i rozbił kłódkę młotkiem. W środku leżały "
    "same guziki, tysiące guzików, a pod nimi kartka z jednym zdaniem: proszę oddać "
    "właścicielom.",
    "Czech": "Hodinář slíbil, že opraví věžní hodiny do neděle, ale v sobotu zmizel i s "
    "klíčem. Lidé čekali pod věží celý den a dívali se na ručičky, které stály. Teprve v "
    "noci uslyšeli tikání, které však nevycházelo z věže, nýbrž z prázdného domu vedle školy.",
    "Finnish": "Joka talvi isoisä kaivoi avannon samaan kohtaan ja laski siihen tyhjän "
    "ämpärin. Kun kysyin miksi, hän sanoi että järvi on hänelle jotakin velkaa. Viimeisenä "
    "talvena ämpäri nousi raskaana, ja hän katsoi siihen pitkään ennen kuin kaatoi kaiken "
    "takaisin.",
    "Hungarian": "A kalauz minden este végigjárta az üres vonatot, és minden este talált "
    "egy kesztyűt az utolsó ülésen. Összegyűjtötte őket egy dobozban. Tavasszal egy lány "
    "szállt fel, akinek fázott a keze, és a kalauz szó nélkül elé tette a dobozt, mintha rá "
    "várt volna.",
    "Turkish": "Dedem bahçedeki kuyuya her akşam bir masal anlatırdı. Kuyu kuruydu, ama o "
    "yine de eğilip fısıldardı. Öldüğü yaz, bütün köy susuz kalmışken, kovayı indirdim ve su "
    "sesi duydum; su yukarı çıkarken bildiğim bütün masalları tersinden söylüyordu.",
    "Indonesian": "Setiap malam ayah menyalakan lampu di dermaga meskipun perahu kami "
    "sudah lama tenggelam. Orang kampung menganggapnya gila. Pada malam badai itu, tujuh "
    "nelayan selamat karena cahaya kecil itu, dan keesokan harinya masing-masing membawa "
    "sebotol minyak ke rumah kami.",
    "Vietnamese": "Bà tôi trồng một cây bưởi ngày chú tôi đi xa và nói rằng khi cây ra quả "
    "chú sẽ về. Cây không bao giờ ra quả. Năm tôi mười tám tuổi, tôi treo lên cành những quả "
    "bưởi mua ở chợ, và sáng hôm sau có người gõ cửa.",
    "Swahili": "Kila asubuhi mzee alipeleka mbuzi wake kilimani na kurudi na mbuzi mmoja "
    "zaidi. Hakuna aliyejua walikotoka. Mjukuu wake alipomfuata kwa siri, alimwona "
    "akizungumza na jiwe kubwa, na jiwe lile lilikuwa linapumua polepole kama mnyama "
    "aliyelala.",
    "Russian": "Смотритель маяка писал письма самому себе и бросал их в море в бутылках. "
    "Через двадцать лет одна бутылка вернулась, но почерк внутри был чужой. Кто-то отвечал "
    "ему всё это время, терпеливо, на каждое письмо, и в последнем просил только не гасить "
    "огонь.",
    "Greek": "Ο φούρναρης έκανε κάθε βράδυ ένα ψωμί παραπάνω και το άφηνε στο πεζούλι. "
    "Κανείς δεν έβλεπε ποιος το έπαιρνε. Όταν έκλεισε ο φούρνος, βρήκε ένα πρωί στο πεζούλι "
    "ένα ψωμί ακόμα ζεστό, και δίπλα του ένα κλειδί που δεν ταίριαζε πουθενά.",
    "Arabic": "كان جدي يصلح الساعات ولا يملك ساعة. قال لي إن الوقت ضيف يأتي متى شاء. وفي "
    "الليلة التي مات فيها دقت كل ساعات الدكان معا، ثم صمتت، وبقيت واحدة صغيرة تمشي إلى "
    "الوراء حتى الصباح.",
    "Hebrew": "בכל ערב ישבה הספרנית וקראה בקול לכיסאות הריקים. כששאלו אותה למה, אמרה "
    "שהספרים מתגעגעים. בלילה שבו כבה החשמל בכל העיר נדלק אור קטן בקומה השנייה, ומישהו המשיך "
    "לקרוא מן המקום שבו עצרה.",
    "Hindi": "गाँव के आखिरी डाकिये ने एक चिट्ठी कभी नहीं पहुँचाई। पता सही था, पर घर नदी "
    "में बह चुका था। हर साल वह उसी जगह जाकर खड़ा होता और लौट आता। इस बरस नदी सूख गई, और "
    "दरवाज़ा रेत में से बाहर निकल आया।",
    "Chinese": "老人每天傍晚都在桥上放一盏纸灯，让它顺水漂走。孩子们问他灯要去哪里，他说去"
    "接一个迟到的人。那年冬天河水结了冰，灯停在桥下不动，老人便走到冰上，坐在灯旁边，等了整整"
    "一夜。",
    "Japanese": "祖父の時計は毎晩同じ時刻に止まり、朝になると何事もなかったように動き出した"
    "。修理屋は首をかしげるばかりだった。ある夜、私は起きて待ってみた。時計が止まると、廊下の"
    "奥から下駄の音が近づいてきた。",
    "Korean": "할머니는 겨울마다 빈 항아리를 마당에 내놓으셨다. 눈을 받으려는 것이 아니라 "
    "소리를 받으려는 것이라고 하셨다. 봄이 되어 뚜껑을 열면 정말로 무슨 소리가 났는데, 나는 "
    "오랫동안 그것이 할아버지의 기침 소리인 줄 몰랐다.",
    "Thai": "ทุกคืนยายจะวางข้าวหนึ่งถ้วยไว้ที่หน้าต่าง ตอนเช้าถ้วยจะว่างเปล่าเสมอ "
    "วันที่ยายป่วยไม่มีใครวางข้าว แต่รุ่งขึ้นกลับมีดอกไม้อยู่ในถ้วยนั้นแทน",
}
CODE = {
    "Python": "def walk(tree):\n    if tree is None:\n        return []\n    left = "
    "walk(tree.left)\n    return left + [tree.value] + walk(tree.right)\n\n\nclass "
    "Shop:\n    def __init__(self):\n        self.stock = {}\n\n    def sell(self, name, "
    "count=1):\n        if self.stock.get(name, 0) < count:\n            raise "
    "ValueError(name)\n        self.stock[name] -= count\n",
    "C": "#include <stdio.h>\nint main(void) {\n  int i, total = 0;\n  for (i = 0; i < 10; "
    'i++) {\n    total += i * i;\n  }\n  printf("%d\\n", total);\n  return 0;\n}\n',
    "SQL": "SELECT s.id, s.name, COUNT(o.id) AS orders FROM shops s LEFT JOIN orders o ON "
    "o.shop_id = s.id WHERE s.city = 'Ulm' GROUP BY s.id, s.name HAVING COUNT(o.id) > 3 "
    "ORDER BY orders DESC;",
    "HTML": '<div class="box"><ul><li><a href="/one">One</a></li><li><a '
    'href="/two">Two</a></li></ul><img src="lamp.png" '
    'alt="lamp"><table><tr><td>1</td><td>2</td></tr></table></div>',
    "JSON": '{"shop": {"name": "Lamp", "open": true, "stock": [{"id": 1, "count": 4}, '
    '{"id": 2, "count": 9}], "tags": ["old", "oil"], "owner": null, "rate": 0.25}}',
    "numbers": " ".join(str(n * n) for n in range(1, 120)),
    "table": "\n".join(f"{n}, {n * 3.5:.2f}, {n % 7}, row {n}" for n in range(60)),
    "dates": "\n".join(f"2019-{n % 12 + 1:02}-{n % 28 + 1:02} 14:{n % 60:02}" for n in range(60)),
}


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    prompts = stories_of("writingprompts", data)
    known, rest = ([s for s in prompts if half(s) == number] for number in (0, 1))
    began = time.perf_counter()
    domain = describe_domain([story.text for story in known])
    low, _, high = domain["words"]
    print(f"described {len(known):,} stories in {time.perf_counter() - began:.1f} s: ", end="")
    print(f"{low:.0f} to {high:.0f} words, {domain['common']:.0%} common English words or more")
    print(f"{'texts':34}{'n':>6}{'warned':>8}{'words':>8}{'language':>10}{'surface':>9}")
    show("WritingPrompts, the other half", [story.text for story in rest], domain)
    hanna = stories_of("hanna", data)
    show("HANNA, people", [s.text for s in hanna if s.system == "Human"], domain)
    for system in sorted({s.system or "" for s in hanna} - {"Human"}):
        show(f"HANNA, {system}", [s.text for s in hanna if s.system == system], domain)
    for name in ("storyer", "storyer_ratings", "mans", "rocstories", "vist"):
        show(name, [story.text for story in thinned(stories_of(name, data))], domain)
    show("not English (made up)", list(FOREIGN.values()), domain)
    show("code and numbers (made up)", list(CODE.values()), domain)
    show_time(known, domain)


def stories_of(name: str, data: Path) -> tuple[Story, ...]:
    return tuple(load_dataset(name, data_folder(name, data)).stories)


def half(story: Story) -> int:
    """Half of the items that a story belongs to, so that no prompt is in both."""
    return hashlib.sha256((story.item or story.id).encode()).digest()[0] % 2


def thinned(stories: tuple[Story, ...]) -> tuple[Story, ...]:
    return stories[:: -(-len(stories) // MOST)]


def show(name: str, texts: list[str], domain: dict[str, object]) -> None:
    kinds = [{kind_of(warning) for warning in describe_oddities(text, domain)} for text in texts]
    shares = [sum(bool(some) for some in kinds)]
    shares += [sum(kind in some for some in kinds) for kind in ("words", "language", "surface")]
    row = "".join(f"{n / len(texts):>{w}.1%}" for n, w in zip(shares, (8, 8, 10, 9), strict=True))
    print(f"{name:34}{len(texts):>6,}{row}")


def kind_of(warning: str) -> str:
    return next((kind for kind, words in SPOKEN.items() if words in warning), "language")


def show_time(stories: list[Story], domain: dict[str, object]) -> None:
    text = " ".join(" ".join(story.text for story in stories[:9]).split()[:500])
    taken = []
    for _ in range(50):
        began = time.process_time()
        describe_oddities(text, domain)
        taken.append(time.process_time() - began)
    print(f"500 words: {sorted(taken)[25] * 1e3:.1f} ms of processor time (bar 5)")


if __name__ == "__main__":
    main()
