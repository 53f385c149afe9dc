"""Messages that no library about software answers: small talk, other subjects, and requests about "this"."""

from __future__ import annotations

UNRELATED = tuple(
    line.strip()
    for line in """
    hello there
    good morning
    thanks a lot!
    what's the weather like today
    tell me a joke
    write me a poem about autumn
    who are you?
    can you help me plan a trip to Italy
    how do I cook pasta
    what should I have for dinner
    summarize this article for me
    translate this sentence into French
    make it shorter
    try again please
    continue
    why did that fail
    looks good to me
    ok do it
    fix the bug
    run the tests
    add a comment to that function
    rename the variable
    refactor this
    explain this code
    best restaurants in Shanghai
    how tall is Mount Everest
    who won the world cup in 2014
    how to grow tomatoes on a balcony
    what is the capital of Mongolia
    how to tie a tie
    plan a birthday party for a six year old
    convert 30 miles to kilometres
    draft an email to my landlord
    how many calories are in an avocado
    recommend a novel for a long flight
    is it safe to eat raw eggs
    what time is it in Tokyo
    how do I get red wine out of a carpet
    can cats eat cheese
    write a toast for my brother's wedding
    what are the rules of chess
    how often should I water a cactus
    I have a headache, what should I do
    name three famous painters of the renaissance
    how far is the moon
    suggest a name for my puppy
    how do magnets work
    what's a good stretch for a sore back
    when does spring begin
    how long should I boil an egg
    what is the best way to learn to swim
    teach me a card trick
    what does this word mean
    that is not what I asked for
    please do the same for the other one
    undo your last change
    can you check it once more
    I don't understand your answer
    give me more details about that
    what do you think about it
    use simpler words
    put the answer into one sentence
    rewrite the second paragraph
    is that really true?
    do you have a better idea
    write it in a friendlier tone
    are you sure about this
    which one would you choose
    how do I repair a bicycle tyre
    what should I wear to a job interview
    how do I apologise to a friend
    who painted the Mona Lisa
    what is the tallest building in the world
    how do I remove a splinter
    give me a recipe for banana bread
    what's the difference between jam and marmalade
    how do I keep bees
    why is the sky blue
    how many bones does a human have
    what instruments are in a string quartet
    what is a good gift for a grandmother
    how do I bleed a radiator
    how do I fold a fitted sheet
    explain the offside rule
    how old is the universe
    which wine goes with salmon
    how do I stop my dog from barking
    what is the exchange rate of the euro
    how do I train for a marathon
    who wrote Pride and Prejudice
    what are the symptoms of the flu
    how do I pack a suitcase well
    tell me about the history of coffee
    what is the fastest animal
    how do I write a condolence letter
    how do I sharpen kitchen knives
    what is the meaning of life
    how do I make friends in a new town
    sing me a song
    what is your favourite colour
    我想吃火锅
    今天天气怎么样
    给我讲个笑话
    帮我写一首关于春天的诗
    推荐几部好看的电影
    我心情不好
    周末去哪里玩比较好
    帮我翻译一下这句话
    你叫什么名字
    谢谢你
    好的，继续
    请继续
    再试一次
    为什么不行
    这个怎么改
    把上面的改短一点
    解释一下这段代码
    修复这个错误
    运行测试
    帮我看看这个报错
    写个单元测试
    怎么种西红柿
    如何养猫
    孩子发烧怎么办
    明天几点日出
    帮我算一下房贷
    写一封请假邮件
    红烧肉怎么做
    上海到北京的高铁要多久
    我失眠了怎么办
    感冒了吃什么药
    怎么减肥最快
    推荐一本睡前读的小说
    给女朋友买什么礼物
    怎么学会游泳
    鸡蛋要煮几分钟
    猫可以喝牛奶吗
    给我起个好听的网名
    写一段婚礼祝福语
    今年春节是哪一天
    珠穆朗玛峰有多高
    谁写了红楼梦
    怎样去除衣服上的油渍
    多肉植物多久浇一次水
    面试应该穿什么衣服
    长城有多长
    如何跟朋友道歉
    怎么挑西瓜
    月亮为什么会发光
    头疼怎么缓解
    做瑜伽有什么好处
    怎么做提拉米苏
    附近有什么好吃的
    帮我规划三天的成都旅行
    狗狗总是叫怎么办
    怎么折千纸鹤
    唱首歌给我听
    你觉得我该选哪一个
    再详细一点
    换一种说法
    写得更口语一些
    刚才那个不对
    你确定吗
    这是什么意思
    把它翻译成英文
    用一句话概括
    帮我检查一下语法
    给我三个选项
    不要这么长
    继续上一个话题
    撤销刚才的修改
    按照你说的做
    第二段重写一下
    还有别的办法吗
    能不能再快一点
    这样可以吗
    我没看懂
    举个例子
    先别动
    算了，不用了
    我下午要去健身房
    孩子不爱吃蔬菜怎么办
    怎么包饺子
    茶叶怎么保存
    驾照过期了怎么办
    怎样提高睡眠质量
    夏天去哪里避暑
    宝宝几个月会走路
    怎么给阳台做防水
    自行车链条掉了怎么装
    学钢琴几岁开始比较好
    你最喜欢什么颜色
    人为什么要睡觉
    中秋节为什么吃月饼
    怎么写一封感谢信
    天空为什么是蓝色的
    皮鞋怎么保养
    嗓子疼喝什么好
    搬家要注意什么
    怎么跟房东谈价格
    """.splitlines()
    if line.strip()
)
